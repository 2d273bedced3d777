/** The goal for klines' figure, alone or as a ratio to a peer's. One of `most`, `below` and `least` is set. */
export interface Target {
  /** The name of the peer; without it the bound applies to the figure itself. */
  readonly peer?: string
  readonly most?: number
  readonly below?: number
  readonly least?: number
}

/** klines' figure compared with a peer's or with a bound. */
export interface Comparison {
  /** Undefined if the target is a bound without a peer. */
  readonly peer?: string
  readonly theirs?: number
  /** klines' figure divided by the peer's. */
  readonly ratio?: number
  /** The least and the largest ratio of several measurements. */
  readonly spread?: readonly [least: number, largest: number]
  /** As text; undefined without a target. */
  readonly target?: string
  /** Undefined without a target. */
  readonly met?: boolean
}

/** Compares with one peer; `target` is the target that names it, if any. */
export function comparePeer(ours: number, peer: string, theirs: number, target: Target | undefined): Comparison {
  const ratio = ours / theirs
  if (!target) return { peer, theirs, ratio }
  return { peer, theirs, ratio, target: describeTarget(target), met: isMet(ratio, target) }
}

/** Compares with a bound that has no peer. */
export function compareBound(ours: number, target: Target): Comparison {
  return { target: describeTarget(target), met: isMet(ours, target) }
}

function isMet(figure: number, { most, below, least }: Target): boolean {
  if (most !== undefined) return figure <= most
  if (below !== undefined) return figure < below
  return figure >= (least ?? 0)
}

function describeTarget({ most, below, least }: Target): string {
  return most !== undefined ? `≤ ${most}` : below !== undefined ? `< ${below}` : `≥ ${least}`
}
