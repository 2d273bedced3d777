import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { hasRealTree } from '../support/oracles/real-tree.js'
import { useRunFolder } from '../support/run-folder.js'
import { describeMissing, findProgram, versions } from './programs.js'
import { resultTable } from './result-table.js'
import { measureRow, type Result } from './rounds.js'
import type { Contender, Row } from './row.js'
import { SECTIONS } from './sections.js'
import { Workspace } from './workspace.js'

const USAGE = `usage: npm run bench -- [--json FILE] [SECTION...]   sections: ${Object.keys(SECTIONS).join(' ')}; default: all`
const DEFAULT_ROUNDS = 5

/** Runs sections, prints a table of the results and writes them to a JSON file: to `defaultFile` without `--json`. */
async function main(defaultFile: string): Promise<void> {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: { json: { type: 'string' } } })
  const sections = positionals.length > 0 ? positionals : Object.keys(SECTIONS)
  const rounds = Number(process.env.KLINES_BENCH_ROUNDS || DEFAULT_ROUNDS)
  if (sections.some(name => !(name in SECTIONS)) || !Number.isInteger(rounds) || rounds < 1) throw new Error(USAGE)
  if (!hasRealTree) return

  // A signal ends the run after the current process, so that servers are stopped and folders removed.
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => stop.abort(new Error(`Ended by ${signal}`)))

  const used = versions()
  const skipped = new Set<string>()
  const results: Result[] = []
  for (const name of sections) {
    try {
      results.push(...(await measureSection(name, rounds, skipped, stop.signal)))
    } catch (error) {
      // The results of the other sections are still worth printing.
      skipped.add(`section ${name} failed: ${(error as Error).message}`)
      process.exitCode = 1
      if (stop.signal.aborted) break
    }
  }

  console.log(`${resultTable(results)}\n`)
  console.log(`Medians of ${rounds} rounds; ratios are of medians.`)
  console.log(
    Object.entries(used)
      .map(entry => entry.join(' '))
      .join(', '),
  )
  for (const reason of skipped) console.log(`Skipped: ${reason}`)
  const file = values.json ?? defaultFile
  writeFileSync(file, `${JSON.stringify({ versions: used, rounds, results, skipped: [...skipped] }, null, 2)}\n`)
  console.log(`JSON: ${file}`)
}

/** Runs the rows of a section. Adds the reasons why a row or a peer cannot run to `skipped`. */
async function measureSection(
  name: string,
  rounds: number,
  skipped: Set<string>,
  signal: AbortSignal,
): Promise<Result[]> {
  const { needs, rows } = SECTIONS[name]
  const missing = needs.filter(program => !findProgram(program))
  for (const program of missing) skipped.add(`section ${name}: ${describeMissing(program)}`)
  if (missing.length > 0) return []
  const workspace = new Workspace()
  try {
    const results: Result[] = []
    for (const row of await rows(workspace)) {
      console.error(`${name}. ${row.title}`)
      results.push(await measureRow(name, withoutMissing(row, skipped), rounds, signal))
    }
    return results
  } finally {
    await workspace.end()
  }
}

/** Returns the row without the peers whose program is not installed. */
function withoutMissing(row: Row, skipped: Set<string>): Row {
  const isInstalled = ({ program }: Contender) => program === undefined || findProgram(program) !== undefined
  for (const { program } of row.contenders.filter(contender => !isInstalled(contender))) {
    skipped.add(describeMissing(program as string))
  }
  const [ours, ...peers] = row.contenders
  return { ...row, contenders: [ours, ...peers.filter(isInstalled)] }
}

// The results of a run stay, its temporary folder does not.
const results = join(tmpdir(), 'klines-bench.json')
const removeFolder = useRunFolder()
try {
  await main(results)
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
} finally {
  removeFolder()
}
