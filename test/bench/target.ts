/** What a row's figure of ours is to be, alone or as a share of a peer's. One of `most`, `below` and `least` is given. */
export interface Target {
  /** The name of the contender beside which ours is put; without one the figure itself is meant. */
  readonly peer?: string
  readonly most?: number
  readonly below?: number
  readonly least?: number
  /** Allowed on top of the share, in the row's unit. */
  readonly plus?: number
}

/** A figure of ours beside a peer's, or beside a bound. */
export interface Comparison {
  /** Undefined where the target is a bare bound. */
  readonly peer?: string
  readonly theirs?: number
  /** Ours divided by theirs. */
  readonly ratio?: number
  /** In words; undefined where none is set. */
  readonly target?: string
  /** Undefined where none is set. */
  readonly met?: boolean
}

/** Ours beside one peer; `target` is the one that names it, if there is one. */
export function comparePeer(ours: number, peer: string, theirs: number, target: Target | undefined): Comparison {
  const ratio = ours / theirs
  if (!target) return { peer, theirs, ratio }
  // With an allowance the share is of what is left of ours.
  const share = (ours - (target.plus ?? 0)) / theirs
  return { peer, theirs, ratio, target: describeTarget(target), met: isMet(share, target) }
}

/** Ours beside a bound that has no peer. */
export function compareBound(ours: number, target: Target): Comparison {
  return { target: describeTarget(target), met: isMet(ours, target) }
}

function isMet(figure: number, { most, below, least }: Target): boolean {
  if (most !== undefined) return figure <= most
  if (below !== undefined) return figure < below
  return figure >= (least ?? 0)
}

function describeTarget({ most, below, least, plus }: Target): string {
  const bound = most !== undefined ? `≤ ${most}` : below !== undefined ? `< ${below}` : `≥ ${least}`
  return plus === undefined ? bound : `${bound} × + ${plus} ms`
}
