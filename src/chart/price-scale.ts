import { shiftPoint } from '../candles/decimals.js'

export interface PriceTick {
  readonly price: number
  readonly position: number
  /** Without an exponent. */
  readonly text: string
}

/** The steps between ticks: 1, 2, 2.5 and 5, as whole numbers and powers of ten. */
const STEPS = [[1, 0] as const, [2, 0] as const, [25, -1] as const, [5, 0] as const]
/** Up to this ratio of high to low, steps of equal size read well on a logarithmic axis, too. */
const NARROW_RATIO = 8
/** Around equal prices. */
const MARGIN = 0.05

export class PriceScale {
  readonly low: number
  readonly high: number
  /** Whether equal ratios have equal lengths. Not where a price is 0, which has no place on such an axis. */
  readonly log: boolean
  private readonly digits: number

  /** The lowest and the highest price. `digits`: after the point that prices have at the most; no tick has more. */
  constructor(low: number, high: number, { log = false, digits = Infinity } = {}) {
    const isFlat = !(high > low)
    const margin = low === 0 ? 1 : low * MARGIN
    this.low = isFlat ? Math.max(0, low - margin) : low
    this.high = isFlat ? low + margin : high
    this.log = log && this.low > 0
    this.digits = digits
  }

  /** 0 at the bottom of the axis, 1 at its top. */
  position(price: number): number {
    const { low, high, log } = this
    return log ? Math.log(price / low) / Math.log(high / low) : (price - low) / (high - low)
  }

  /** Prices to mark, ascending: at most `max`, and no two closer than an axis of `max` ticks has them. */
  ticks(max: number): PriceTick[] {
    const { low, high, log } = this
    if (!log) return this.linearTicks(max)
    const isSpread = (ticks: PriceTick[], room: number) => spread(ticks, room).length === ticks.length
    if (high / low <= NARROW_RATIO) {
      // The ticks of a log axis come closer at its top.
      let count = max
      while (count > 2 && !isSpread(this.linearTicks(count), max)) count--
      return spread(this.linearTicks(count), max)
    }
    const dense = this.decadeTicks([1, 2, 5], 1)
    if (dense.length <= max && isSpread(dense, 2 * max)) return dense
    for (let every = 1; ; every++) {
      const ticks = this.decadeTicks([1], every)
      if (ticks.length <= max) return ticks
    }
  }

  /** Multiples of the shortest of the steps that gives at most `max` ticks. */
  private linearTicks(max: number): PriceTick[] {
    const { low, high } = this
    const power = Math.floor(Math.log10((high - low) / Math.max(1, max))) - 1
    for (let exponent = power; ; exponent++) {
      for (const [factor, shift] of STEPS) {
        const step = tickValue(factor, exponent + shift)
        const [first, last] = [Math.ceil(low / step), Math.floor(high / step)]
        if (exponent + shift < -this.digits || last - first + 1 > Math.max(1, max)) continue
        const count = Math.max(0, last - first + 1)
        return Array.from({ length: count }, (_, index) => this.tick((first + index) * factor, exponent + shift))
      }
    }
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

/** The nearest number; a product of doubles would be one off at times. */
function tickValue(digits: number, exponent: number): number {
  return Number(`${digits}e${exponent}`)
}

/** Leaves out ticks that are closer to the one below than a `max`th of the axis. */
function spread(ticks: readonly PriceTick[], max: number): PriceTick[] {
  let end = -Infinity
  return ticks.filter(({ position }) => {
    const isKept = position - end >= 1 / max
    if (isKept) end = position
    return isKept
  })
}
