/** `38,083` */
export function formatCount(count: number): string {
  return count.toLocaleString('en-US')
}

/** `1 window`, `2 windows` */
export function plural(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`
}
