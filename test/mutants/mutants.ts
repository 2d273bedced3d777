// usage: mutants.ts [--today | LIST...]: applies mutations one at a time to a copy of the project and runs the test of each, which must
// fail. `--today` takes 20 of them, in turn by the day of the year. Exits with 1 when a test passes or does not run.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { getDayOfYear } from 'date-fns'
import { transformSync } from 'esbuild'
import pMap from 'p-map'
import { type Mutation, readMutations } from './list.js'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** Mutations a day. */
const A_DAY = 20
/** What a test reads of the project. */
const COPIED = [
  '.ci',
  'bin',
  'dist',
  'fixtures',
  'src',
  'test',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'oclif.manifest.json',
  'README.md',
]
/** Tests of the built program. */
const BUILT = /^test\/(e2e|faults|server\/docs\/browser|chart\/svg\/rendered)/

/** What became of the test of a mutation. */
type Outcome = 'caught' | 'NOT CAUGHT' | 'DID NOT RUN'

function choose(all: readonly Mutation[], args: readonly string[]): readonly Mutation[] {
  if (args.length === 0) return all
  if (args[0] !== '--today') return all.filter(({ name }) => args.includes(name) || args.includes(name.split(' ')[0]))
  const start = A_DAY * getDayOfYear(new Date())
  return Array.from({ length: Math.min(A_DAY, all.length) }, (_, index) => all[(start + index) % all.length])
}

function makeCopy(folder: string): string {
  const copy = mkdtempSync(join(folder, 'copy-'))
  for (const name of COPIED) copyTo(copy, name)
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
  return copy
}

function copyTo(copy: string, name: string): void {
  cpSync(join(ROOT, name), join(copy, name), { recursive: true, preserveTimestamps: true })
}

/** Runs a program of Node in a folder; returns all it prints. */
async function node(cwd: string, args: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, args, {
    cwd,
    env: { ...process.env, CI: '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (printed += chunk))
  await once(child, 'close')
  return printed
}

/** Puts the text of a source into a copy, and into its build where the test runs that. */
async function put(copy: string, { file, testFile }: Mutation, text: string): Promise<void> {
  writeFileSync(join(copy, file), text)
  if (!BUILT.test(testFile)) return
  if (file.endsWith('.ts')) {
    const { code } = transformSync(text, { loader: 'ts', format: 'esm', target: 'es2022' })
    writeFileSync(join(copy, file.replace(/^src(.*)\.ts$/, 'dist$1.js')), code)
  }
  await node(copy, ['bin/bundle.js'])
}

/** Runs tests by their files and parts of their names, which may have any characters: how many passed and failed, and all that was printed. */
async function runTests(copy: string, mutations: readonly Mutation[]) {
  const report = join(copy, 'report.json')
  rmSync(report, { force: true })
  const names = mutations.map(({ testName }) => testName.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
  const files = new Set(mutations.map(({ testFile }) => testFile))
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/vitest.config.ts', '--root', '.']
  const options = [`--testNamePattern=${names.join('|')}`, '--reporter=json', `--outputFile=${report}`]
  const printed = await node(copy, [...vitest, ...files, ...options])
  const { numPassedTests: passed = 0, numFailedTests: failed = 0 } = existsSync(report)
    ? JSON.parse(readFileSync(report, 'utf8'))
    : {}
  return { passed, failed, printed }
}

/** Applies a mutation to a copy, runs its test and takes the mutation back. */
async function run(copy: string, mutation: Mutation): Promise<{ outcome: Outcome; printed: string }> {
  const { file, text, replacement } = mutation
  const source = readFileSync(join(copy, file), 'utf8')
  const mutated = source.replace(text, () => replacement)
  await put(copy, mutation, mutated)
  const { passed, failed, printed } = await runTests(copy, [mutation])
  for (const changed of [file, 'dist']) copyTo(copy, changed)
  if (failed > 0) return { outcome: 'caught', printed }
  return { outcome: passed > 0 ? 'NOT CAUGHT' : 'DID NOT RUN', printed }
}

await node(ROOT, ['bin/prepare.js'])
const chosen = choose(readMutations(ROOT), process.argv.slice(2))
const folder = mkdtempSync(join(tmpdir(), 'klines-mutants-'))
const left: string[] = []
try {
  const copies = Array.from({ length: Math.min(availableParallelism(), chosen.length) }, () => makeCopy(folder))
  // A test that fails without a mistake sees none.
  const sound = await runTests(copies[0], chosen)
  if (sound.failed > 0 || sound.passed === 0) throw new Error(`The tests fail without a mutation:\n${sound.printed}`)
  await pMap(
    chosen,
    async mutation => {
      const copy = copies.pop() as string
      const started = performance.now()
      const { outcome, printed } = await run(copy, mutation)
      copies.push(copy)
      const seconds = ((performance.now() - started) / 1000).toFixed(1)
      console.log(
        `${outcome.padEnd(11)} ${seconds.padStart(5)} s  ${mutation.name}: ${mutation.file}: ${mutation.testName}`,
      )
      if (outcome === 'caught') return
      left.push(mutation.name)
      console.log(`- ${mutation.text}\n+ ${mutation.replacement}${outcome === 'DID NOT RUN' ? `\n${printed}` : ''}`)
    },
    { concurrency: copies.length },
  )
} finally {
  rmSync(folder, { recursive: true, force: true })
}
console.log(
  `${chosen.length - left.length} of ${chosen.length} mutations caught${left.length > 0 ? `; not: ${left.join(', ')}` : ''}`,
)
process.exitCode = left.length > 0 ? 1 : 0
