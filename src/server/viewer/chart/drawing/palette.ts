/** The colours of the chart: the custom property of `risingBody` is `--rising-body`. */
const NAMES = [
  'paper',
  'ink',
  'soft',
  'grid',
  'crosshair',
  'rising',
  'risingBody',
  'falling',
  'risingVolume',
  'fallingVolume',
  'gap',
  'gapInk',
  'missingWindow',
  'missingStripe',
] as const

/** The colours of the chart, from the custom properties of the style sheet. */
export type Palette = Readonly<Record<(typeof NAMES)[number], string>>

/** Reads the colours of the current theme. */
export function readPalette(): Palette {
  const style = getComputedStyle(document.documentElement)
  const property = (name: string) => `--${name.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)}`
  return Object.fromEntries(NAMES.map(name => [name, style.getPropertyValue(property(name)).trim()])) as Palette
}
