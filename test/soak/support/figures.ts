/** Prints what a soak measured, one line a row: its name, then `name value` pairs. */
export function printFigures(title: string, rows: Record<string, Record<string, number | string>>): void {
  const width = Math.max(...Object.keys(rows).map(name => name.length))
  const lines = Object.entries(rows).map(([name, figures]) => {
    const cells = Object.entries(figures).map(([what, value]) => `${what} ${value}`)
    return `  ${name.padEnd(width)}  ${cells.join(' · ')}`
  })
  console.log([title, ...lines].join('\n'))
}
