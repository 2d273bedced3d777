/** `--progress`: `auto` is a bar at a terminal and plain lines elsewhere. */
export const PROGRESS_MODES = ['auto', 'plain', 'json', 'none'] as const
export type ProgressMode = (typeof PROGRESS_MODES)[number]
