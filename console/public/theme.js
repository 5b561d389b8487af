// Applies the selected theme before the first paint; without one the system's theme is used.
const theme = localStorage.getItem('svc.theme')
if (theme) document.documentElement.dataset.theme = theme
