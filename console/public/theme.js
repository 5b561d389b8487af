// Before the first paint: a theme that was chosen wins over the system's.
const chosen = localStorage.getItem('svc.theme')
if (chosen) document.documentElement.dataset.theme = chosen
