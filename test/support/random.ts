/** A generator of pseudorandom numbers from a seed (mulberry32). */
export class Random {
  constructor(private state: number) {}

  /** A number from 0 to `end`, exclusive. */
  below(end: number): number {
    this.state = (this.state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % end
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)]
  }

  bytes(length: number): Buffer {
    return Buffer.from(Array.from({ length }, () => this.below(256)))
  }
}
