import { shiftPoint } from '../rows/decimals.js'

/** A marked price of an axis. */
export interface PriceTick {
  readonly price: number
  /** 0 at the bottom of the axis, 1 at its top. */
  readonly position: number
  /** With the digits that it needs, without an exponent. */
  readonly text: string
}

/** The steps between ticks, times a power of ten, as whole numbers and the power that makes 2.5 of 25. */
const STEPS: readonly [number, number][] = [
  [1, 0],
  [2, 0],
  [25, -1],
  [5, 0],
]
/** Up to this ratio of high to low, steps of equal size read well on a logarithmic axis, too. */
const NARROW_RATIO = 8
/** Equal prices get an axis from 5% below to 5% above. */
const MARGIN = 0.05

/** The prices that an axis shows. */
export interface PriceScaleOptions {
  /** The lowest and the highest one. */
  readonly low: number
  readonly high: number
  readonly log?: boolean | undefined
  /** Digits after the point that prices have at the most: no tick has more. */
  readonly digits?: number | undefined
}

/** Maps prices to places on an axis. */
export class PriceScale {
  readonly low: number
  readonly high: number
  /** Whether equal ratios have equal lengths. Not where a price is 0, which has no place on such an axis. */
  readonly log: boolean
  private readonly digits: number

  constructor({ low, high, log = false, digits = Infinity }: PriceScaleOptions) {
    const isFlat = !(high > low)
    const margin = low === 0 ? 1 : low * MARGIN
    this.low = isFlat ? Math.max(0, low - margin) : low
    this.high = isFlat ? low + margin : high
    this.log = log && this.low > 0
    this.digits = digits
  }

  /** The place of a price: 0 at the bottom of the axis, 1 at its top. */
  position(price: number): number {
    const { low, high, log } = this
    return log ? Math.log(price / low) / Math.log(high / low) : (price - low) / (high - low)
  }

  /** Prices to mark, ascending: about `max` at the most, and no two closer than an axis of `max` ticks has them. */
  ticks(max: number): PriceTick[] {
    const { low, high, log } = this
    if (!log) return this.linearTicks(max)
    if (high / low <= NARROW_RATIO) return this.narrowTicks(max)
    for (const factors of [[1, 2, 5], [1]]) {
      const ticks = this.decadeTicks(factors, 1)
      if (ticks.length <= max && spread(ticks, 2 * max).length === ticks.length) return ticks
    }
    let every = 2
    while (this.decadeTicks([1], every).length > max) every++
    return this.decadeTicks([1], every)
  }

  /** Multiples of the shortest step of 1, 2, 2.5 or 5 times a power of ten that gives at most `max` ticks. */
  private linearTicks(max: number): PriceTick[] {
    const { low, high } = this
    const power = Math.floor(Math.log10((high - low) / Math.max(1, max))) - 1
    for (let exponent = power; ; exponent++) {
      for (const [factor, shift] of STEPS) {
        const step = tickValue(factor, exponent + shift)
        if (exponent + shift < -this.digits) continue
        const [first, last] = [Math.ceil(low / step), Math.floor(high / step)]
        if (last - first + 1 > Math.max(1, max)) continue
        return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) =>
          this.tick((first + index) * factor, exponent + shift),
        )
      }
    }
  }

  /** The shortest such step for which no two ticks of a log axis, which come closer at its top, are too close. */
  private narrowTicks(max: number): PriceTick[] {
    for (let count = max; count > 2; count--) {
      const ticks = this.linearTicks(count)
      if (spread(ticks, max).length === ticks.length) return ticks
    }
    return spread(this.linearTicks(2), max)
  }

  /** `factors` times every so-manyth power of ten. */
  private decadeTicks(factors: readonly number[], every: number): PriceTick[] {
    const ticks: PriceTick[] = []
    const first = Math.floor(Math.floor(Math.log10(this.low)) / every) * every
    for (let exponent = first; tickValue(1, exponent) <= this.high; exponent += every) {
      for (const factor of factors) ticks.push(this.tick(factor, exponent))
    }
    return ticks.filter(({ position }) => position >= 0 && position <= 1)
  }

  private tick(digits: number, exponent: number): PriceTick {
    const price = tickValue(digits, exponent)
    return { price, position: this.position(price), text: shiftPoint(String(digits), exponent) }
  }
}

/** The nearest number to `digits` times ten to the power of `exponent`; a product of doubles would be one off at times. */
function tickValue(digits: number, exponent: number): number {
  return Number(`${digits}e${exponent}`)
}

/** Leaves out ticks that are closer to the one below than a `max`th of the axis. */
function spread(ticks: readonly PriceTick[], max: number): PriceTick[] {
  const kept: PriceTick[] = []
  for (const tick of ticks) {
    if (kept.length === 0 || tick.position - kept[kept.length - 1].position >= 1 / max) kept.push(tick)
  }
  return kept
}
