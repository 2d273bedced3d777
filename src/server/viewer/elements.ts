export function element<T extends HTMLElement = HTMLElement>(id: string): T {
  return document.getElementById(id) as T
}

export function create<K extends keyof HTMLElementTagNameMap>(
  name: K,
  content: string | Node = '',
  attributes: Readonly<Record<string, string>> = {},
): HTMLElementTagNameMap[K] {
  const created = document.createElement(name)
  created.append(content)
  for (const [key, value] of Object.entries(attributes)) created.setAttribute(key, value)
  return created
}

/** Listens to keys by their names, except those that a control uses itself. */
export function listenToKeys(actions: Readonly<Record<string, (isShifted: boolean) => void>>): void {
  addEventListener('keydown', event => {
    const { target, key, shiftKey } = event
    const isTaken = target instanceof Element && target.closest('input, select') !== null
    if (isTaken || event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(actions, key)) return
    event.preventDefault()
    actions[key](shiftKey)
  })
}

const prefersDark = () => matchMedia('(prefers-color-scheme: dark)')

/** A colour of the current theme: its custom property is `light-dark(LIGHT, DARK)`. */
export function color(name: string): string {
  const value = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`)
  const [, light, dark] = /\((.*), *(.*)\)/.exec(value) ?? []
  const theme = document.documentElement.style.colorScheme
  return theme === 'dark' || (theme === '' && prefersDark().matches) ? dark : light
}

const THEME_KEY = 'klines-theme'
/** Each with the sign of the button. */
const THEMES: Readonly<Record<string, string>> = { system: '◐', light: '○', dark: '●' }

/** The button that overrides the theme of the system. `onChange`: the colours may have changed. */
export function offerThemes(onChange: () => void): void {
  const button = element('theme')
  let chosen: string
  let storage: Storage | undefined
  try {
    storage = localStorage
  } catch {
    // Refused by the browser: the choice lasts as long as the page.
  }
  const choose = (theme: string) => {
    document.documentElement.style.colorScheme = theme === 'system' ? '' : theme
    chosen = theme
    button.textContent = THEMES[theme]
    button.title = button.ariaLabel = `Theme: ${theme}`
    onChange()
  }
  const stored = storage?.getItem(THEME_KEY) ?? ''
  choose(Object.hasOwn(THEMES, stored) ? stored : 'system')
  button.addEventListener('click', () => {
    const names = Object.keys(THEMES)
    const next = names[(names.indexOf(chosen) + 1) % names.length]
    storage?.setItem(THEME_KEY, next)
    choose(next)
  })
  prefersDark().addEventListener('change', onChange)
}
