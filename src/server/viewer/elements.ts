export function element<T extends HTMLElement = HTMLElement>(id: string): T {
  const found = document.getElementById(id)
  if (!found) throw new Error(`The page has no element "${id}".`)
  return found as T
}

export function create<K extends keyof HTMLElementTagNameMap>(
  name: K,
  text = '',
  attributes: Readonly<Record<string, string>> = {},
): HTMLElementTagNameMap[K] {
  const created = document.createElement(name)
  created.textContent = text
  for (const [key, value] of Object.entries(attributes)) created.setAttribute(key, value)
  return created
}

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

const prefersDark = () => matchMedia('(prefers-color-scheme: dark)')

/** A colour of the current theme, by its custom property in the style sheet: `light-dark(LIGHT, DARK)`. */
export function color(name: string): string {
  const value = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`)
  const [, light, dark] = /\((.*), *(.*)\)/.exec(value) ?? []
  const { theme = prefersDark().matches ? 'dark' : 'light' } = document.documentElement.dataset
  return theme === 'dark' ? dark : light
}

const THEME_KEY = 'klines-theme'
const THEMES = ['system', 'light', 'dark']

/** The button that overrides the theme of the system; the choice is remembered. `onChange`: the colours of the page may have changed. */
export function offerThemes(onChange: () => void): void {
  const button = element('theme')
  // A browser may refuse its storage; then the choice lasts as long as the page.
  const withStorage = <T>(use: (storage: Storage) => T): T | undefined => {
    try {
      return use(localStorage)
    } catch {
      return undefined
    }
  }
  const choose = (theme: string) => {
    if (theme === 'system') delete document.documentElement.dataset.theme
    else document.documentElement.dataset.theme = theme
    button.dataset.choice = theme
    button.title = button.ariaLabel = `Theme: ${theme}`
    onChange()
  }
  const stored = withStorage(storage => storage.getItem(THEME_KEY) ?? '') ?? ''
  choose(THEMES.includes(stored) ? stored : 'system')
  button.addEventListener('click', () => {
    const next = THEMES[(THEMES.indexOf(button.dataset.choice ?? '') + 1) % THEMES.length]
    withStorage(storage => storage.setItem(THEME_KEY, next))
    choose(next)
  })
  prefersDark().addEventListener('change', onChange)
}
