/**
 * Sign-in links, invites and decision links have their token in the fragment of the URL. The browser loads nothing when
 * somebody pastes such a link into a tab that shows the same page. `#main` is the skip link.
 */
export function reloadOnPastedLink(): void {
  window.addEventListener('hashchange', () => {
    if (location.hash !== '' && location.hash !== '#main') location.reload()
  })
}
