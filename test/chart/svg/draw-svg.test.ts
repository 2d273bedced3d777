import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { FittedCandles } from '../../../src/chart/candle-fitter.js'
import { drawSvg } from '../../../src/chart/svg/draw-svg.js'
import { DEFAULT_PICTURE, PALETTES, type PictureOptions } from '../../../src/chart/svg/layout.js'
import { daily, type Prices } from '../../support/chart-series.js'

function draw(fitted: FittedCandles, options: Partial<PictureOptions> = {}): string {
  const svg = drawSvg(fitted, { ...DEFAULT_PICTURE, ...options })
  if (svg === undefined) throw new Error('nothing is drawn')
  return svg
}

/** The `d` of the path with that attribute, one line of the picture after the other. */
function linesOf(svg: string, attribute: string): string[] {
  const found = svg.match(/<path [^>]*>/g)?.filter(tag => tag.includes(attribute)) ?? []
  return found.flatMap(tag => /\bd="([^"]*)"/.exec(tag)?.[1].match(/M[^M]*/g) ?? [])
}

/** The texts that a reader sees, in order. */
const textsOf = (svg: string) =>
  [...svg.matchAll(/<text[^>]*>(.*?)<\/text>/g)].map(([, content]) => content.replaceAll(/<[^>]*>/g, ' '))

const FLAT: Prices = { open: 7, high: 7, low: 7, close: 7, volume: 1 }
const { light } = PALETTES

/**
 * 1110 x 616 pixels make these places. Across: 16 of margin, 1000 for the candles, the rest for labels of 9 characters. Five slots
 * are 200 wide, so their middles are at 116.5, 316.5 and so on. Down: the header ends at 64, and prices go from 74 to 474: 10 are free
 * above, and 20 between them and the volumes, from 494 to 588. Prices from 100 to 200 are 4 pixels each: a price is at
 * 474 - 4 * (price - 100). The highest volume, 40, is 94 pixels high.
 */
const FIVE_DAYS = daily([
  { open: 100, high: 130, low: 100, close: 120, volume: 10 },
  { open: 150, high: 200, low: 140, close: 145, volume: 40 },
  undefined,
  { open: 150, high: 160, low: 140, close: 150, volume: 0 },
  { open: 170, high: 180, low: 160, close: 165, volume: 20 },
])
const SIZE = { width: 1110, height: 616 }

describe('a picture of five days', () => {
  const svg = draw(FIVE_DAYS, SIZE)

  it('has wicks from high to low, bodies of a pixel at least, and bars of volume, of the colour of their candle', () => {
    const wicks = 'stroke-width="1"'
    expect(linesOf(svg, `stroke="${light.rising}" ${wicks}`)).toEqual(['M116.5 354V474', 'M716.5 234V314'])
    expect(linesOf(svg, `stroke="${light.falling}" ${wicks}`)).toEqual(['M316.5 74V314', 'M916.5 154V234'])
    const bodies = 'stroke-width="25"'
    expect(linesOf(svg, `stroke="${light.rising}" ${bodies}`)).toEqual(['M116.5 394V474', 'M716.5 273.5V274.5'])
    expect(linesOf(svg, `stroke="${light.falling}" ${bodies}`)).toEqual(['M316.5 274V294', 'M916.5 194V214'])
    expect(linesOf(svg, `stroke="${light.risingVolume}"`)).toEqual(['M116.5 588V564.5'])
    expect(linesOf(svg, `stroke="${light.fallingVolume}"`)).toEqual(['M316.5 588V494', 'M916.5 588V541'])
  })

  it('has a band where a candle is missing, and the last price, with a label in the colour of the last candle', () => {
    expect(linesOf(svg, `fill="${light.gap}"`)).toEqual(['M416 64H616V588H416z'])
    expect(linesOf(svg, 'stroke-dasharray')).toEqual(['M16 214H1016'])
    expect(svg).toContain(`<rect x="1017" y="205" width="91" height="18" rx="2" fill="${light.falling}"/>`)
  })

  it('says symbol, interval, change, range, high, low and last, and labels the axes', () => {
    expect(textsOf(svg)).toEqual([
      'BTCUSDT 1d +65.00% ',
      '2024-01-01 to 2024-01-05 UTC, 4 candles, 1 missing · high 200 on 2024-01-02, low 100 on 2024-01-01, last 165',
      ...['100', '120', '140', '160', '180', '200'],
      '40 vol',
      ...['01-01', '01-02', '01-03', '01-04', '01-05'],
      '165',
    ])
    expect(linesOf(svg, `stroke="${light.grid}"`)).toEqual([
      ...[474.5, 394.5, 314.5, 234.5, 154.5, 74.5].map(y => `M16 ${y}H1016`),
      ...[116.5, 316.5, 516.5, 716.5, 916.5].map(x => `M${x} 64V588`),
    ])
  })

  it('has no label and no line of a price beside the last one, and says what was resampled, and a note', () => {
    const slots = FIVE_DAYS.slots.map(slot => ({ ...slot, candle: slot.candle && { ...slot.candle, close: '162.5' } }))
    const picture =
      drawSvg({ ...FIVE_DAYS, slots, resampledFrom: '1h' }, { ...DEFAULT_PICTURE, ...SIZE }, 'a note') ?? ''
    const [, said, ...labels] = textsOf(picture)
    expect(said).toMatch(/^1h resampled to 1d · 2024-.* · a note$/)
    expect(labels.slice(0, 6)).toEqual(['100', '120', '140', '180', '200', '40 vol'])
    expect(linesOf(picture, `stroke="${light.grid}"`)).not.toContain('M16 234.5H1016')
    expect(picture).toMatch(/<desc>.*1h resampled to 1d.*a note<\/desc>/)
  })

  it('needs nothing else: no script, style sheet, event handler or reference', () => {
    expect(svg.replace('xmlns="http://www.w3.org/2000/svg"', '')).not.toMatch(
      /script|style|href|url\(|http|\son\w+=|<!/i,
    )
  })

  it('has other colours with another theme, and the same shapes', () => {
    const dark = draw(FIVE_DAYS, { ...SIZE, theme: 'dark' })
    const shapes = (text: string) => text.replaceAll(/#[0-9a-f]{6}/g, '')
    expect(shapes(dark)).toBe(shapes(svg))
    expect(dark.match(/#[0-9a-f]{6}/g)).not.toContain(light.background)
  })
})

describe('any candles', () => {
  const price = fc.oneof(
    fc.constantFrom('0', '0.00000001', '100000', '1'),
    fc
      .bigInt({ min: 0n, max: 10n ** 13n })
      .map(units => `${units / 10n ** 8n}.${String(units % 10n ** 8n).padStart(8, '0')}`),
  )
  const fitted = fc.array(fc.option(fc.array(price, { minLength: 5, maxLength: 5 })), { maxLength: 60 }).map(list => {
    const start = daily([FLAT])
    const slots = [...list, ['1', '1', '1', '1', '1']].map((prices, index) => {
      const openTime = start.slots[0].openTime + index * 86_400_000
      if (prices === null) return { openTime, candle: undefined }
      const [first, second, third, fourth, volume] = prices
      const [low, a, b, high] = [first, second, third, fourth].sort((x, y) => Number(x) - Number(y))
      return { openTime, candle: { openTime, open: a, high, low, close: b, volume } }
    })
    return { ...start, slots, candles: slots.filter(({ candle }) => candle).length }
  })
  const options = fc.record({
    theme: fc.constantFrom('light' as const, 'dark' as const),
    width: fc.integer({ min: 400, max: 3000 }),
    height: fc.integer({ min: 240, max: 3000 }),
    log: fc.boolean(),
  })

  it('are drawn within the picture, at finite places, each once', () => {
    fc.assert(
      fc.property(fitted, options, (candles, picture) => {
        const svg = draw(candles, picture)
        expect(svg).not.toMatch(/NaN|Infinity|undefined|\b(x|y|width|height)="[^"]*e/)
        for (const [, path] of svg.matchAll(/ d="([^"]*)"/g)) {
          expect(path).toMatch(/^(M-?[\d.]+ -?[\d.]+([VH]-?[\d.]+)+z?)+$/)
          const xs = [...path.matchAll(/[MH](-?[\d.]+)/g)].map(([, x]) => Number(x))
          const ys = [...path.matchAll(/(?:M-?[\d.]+ |V)(-?[\d.]+)/g)].map(([, y]) => Number(y))
          expect(Math.min(...xs, ...ys)).toBeGreaterThanOrEqual(0)
          expect(Math.max(...xs)).toBeLessThanOrEqual(picture.width)
          expect(Math.max(...ys)).toBeLessThanOrEqual(picture.height)
        }
        const { rising, falling } = PALETTES[picture.theme]
        const strokes = [rising, falling].flatMap(colour => linesOf(svg, `stroke="${colour}" stroke-width`))
        expect(strokes).toHaveLength(2 * candles.candles)
        expect(draw(structuredClone(candles), picture)).toBe(svg)
      }),
      { numRuns: 200 },
    )
  })
})
