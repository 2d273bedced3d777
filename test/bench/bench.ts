import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hasRealTree } from '../support/oracles/real-tree.js'
import { useRunFolder } from '../support/run-folder.js'
import { type Mode, parseCommandLine, withoutUntargeted } from './mode.js'
import { describeMissing, findProgram, versions } from './programs.js'
import { resultTable } from './result-table.js'
import { combine, measureRow, type Result } from './rounds.js'
import type { Contender, Row } from './row.js'
import { SECTIONS } from './sections.js'
import { Workspace } from './workspace.js'

/** Runs sections, prints a table of the results and writes them to a JSON file: to `defaultFile` without `--json`. */
async function main(defaultFile: string): Promise<void> {
  const { sections, mode, json = defaultFile } = parseCommandLine()
  if (!hasRealTree) return

  // A signal ends the run after the current process, so that servers are stopped and folders removed.
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => stop.abort(new Error(`Ended by ${signal}`)))

  const used = versions()
  const skipped = new Set<string>()
  const results: Result[] = []
  for (const name of sections) {
    if (mode.headlineOnly && !SECTIONS[name].hasHeadline) continue
    try {
      results.push(...(await measureSection(name, mode, skipped, stop.signal)))
    } catch (error) {
      // The results of the other sections are still worth printing.
      skipped.add(`section ${name} failed: ${(error as Error).message}`)
      process.exitCode = 1
      if (stop.signal.aborted) break
    }
  }

  console.log(`${resultTable(results)}\n`)
  const repeated = mode.runs > 1 ? ` The median of ${mode.runs} runs, with the least and the largest ratio.` : ''
  console.log(
    `Medians of ${mode.rounds === 1 ? '1 round' : `${mode.rounds} rounds`}; ratios are of medians.${repeated}`,
  )
  console.log(
    Object.entries(used)
      .map(entry => entry.join(' '))
      .join(', '),
  )
  for (const reason of skipped) console.log(`Skipped: ${reason}`)
  writeFileSync(json, `${JSON.stringify({ versions: used, ...mode, results, skipped: [...skipped] }, null, 2)}\n`)
  console.log(`JSON: ${json}`)
}

/** Runs the rows of a section. Adds the reasons why a row or a peer cannot run to `skipped`. */
async function measureSection(name: string, mode: Mode, skipped: Set<string>, signal: AbortSignal): Promise<Result[]> {
  const { needs, rows } = SECTIONS[name]
  const missing = needs.filter(program => !findProgram(program))
  for (const program of missing) skipped.add(`section ${name}: ${describeMissing(program)}`)
  if (missing.length > 0) return []
  const workspace = new Workspace()
  try {
    const results: Result[] = []
    for (const row of await rows(workspace)) {
      if (mode.headlineOnly && !row.isHeadline) continue
      console.error(`${name}. ${row.title}`)
      const reduced = withoutMissing(mode.headlineOnly ? withoutUntargeted(row) : row, skipped)
      const measured: Result[] = []
      while (measured.length < mode.runs) measured.push(await measureRow(name, reduced, mode.rounds, signal))
      results.push(combine(measured))
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
  await removeFolder()
}
