/** Prints the figures of a soak, a line for each row: its name, then `name value` pairs. */
export function printFigures(title: string, rows: Record<string, Record<string, number | string>>): void {
  const width = Math.max(...Object.keys(rows).map(name => name.length))
  const lines = Object.entries(rows).map(([name, figures]) => {
    const cells = Object.entries(figures).map(([name, value]) => `${name} ${value}`)
    return `  ${name.padEnd(width)}  ${cells.join(' · ')}`
  })
  console.log([title, ...lines].join('\n'))
}
