/** The colours of the chart, from the custom properties of the style sheet. */
export interface Palette {
  readonly paper: string
  readonly ink: string
  readonly soft: string
  readonly grid: string
  readonly line: string
  readonly crosshair: string
  readonly rising: string
  readonly risingBody: string
  readonly falling: string
  readonly risingVolume: string
  readonly fallingVolume: string
  readonly gap: string
  readonly missingWindow: string
  readonly missingStripe: string
}

/** Reads the colours of the current theme. */
export function readPalette(): Palette {
  const style = getComputedStyle(document.documentElement)
  const color = (name: string) => style.getPropertyValue(`--${name}`).trim()
  return {
    paper: color('paper'),
    ink: color('ink'),
    soft: color('soft'),
    grid: color('grid'),
    line: color('line'),
    crosshair: color('crosshair'),
    rising: color('rising'),
    risingBody: color('rising-body'),
    falling: color('falling'),
    risingVolume: color('rising-volume'),
    fallingVolume: color('falling-volume'),
    gap: color('gap'),
    missingWindow: color('missing-window'),
    missingStripe: color('missing-stripe'),
  }
}
