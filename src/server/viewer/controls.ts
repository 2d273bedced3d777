import { element } from './elements.js'

/** Listens to keys by their names, except those of a control that uses them itself: a button uses none of these. */
export function listenToKeys(actions: Readonly<Record<string, (isShifted: boolean) => void>>): void {
  addEventListener('keydown', event => {
    const { target, key, shiftKey } = event
    const isTaken = target instanceof Element && target.closest('input, select, dialog') !== null
    if (isTaken || event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(actions, key)) return
    event.preventDefault()
    actions[key](shiftKey)
  })
}

const THEME_KEY = 'klines-theme'
const THEMES = ['system', 'light', 'dark']

/** The button that overrides the theme of the system; the choice is remembered. `onChange`: the colours of the page may have changed. */
export function offerThemes(onChange: () => void): void {
  const button = element('theme')
  let theme = 'system'
  const apply = () => {
    if (theme === 'system') delete document.documentElement.dataset.theme
    else document.documentElement.dataset.theme = theme
    button.dataset.choice = theme
    button.title = button.ariaLabel = `Theme: ${theme}`
    onChange()
  }
  // A browser may refuse its storage; then the choice lasts as long as the page.
  const withStorage = (use: (storage: Storage) => void) => {
    try {
      use(localStorage)
    } catch {}
  }
  withStorage(storage => {
    const stored = storage.getItem(THEME_KEY) ?? ''
    if (THEMES.includes(stored)) theme = stored
  })
  apply()
  button.addEventListener('click', () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length]
    withStorage(storage => storage.setItem(THEME_KEY, theme))
    apply()
  })
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', onChange)
}
