import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The project's folder. */
export const PROJECT = fileURLToPath(new URL('../..', import.meta.url))
const BENCH = join(PROJECT, 'test', 'bench')

/** A program to run. */
export interface Command {
  readonly program: string
  readonly args: readonly string[]
}

/** What a run took. Only programs on Node tell their processor time and memory. */
export interface Usage {
  readonly ms: number
  /** Processor time of all threads, user and system. */
  readonly cpuMs: number
  /** Peak memory, MB of 1,000,000 bytes. */
  readonly mb: number
}

/** A checkout or package of klines that has been built. */
export interface Build {
  readonly name: string
  readonly folder: string
}

export const THIS_BUILD: Build = { name: 'klines', folder: PROJECT }

/** A program on Node that tells its usage. */
export function node(...args: string[]): Command {
  return { program: process.execPath, args: ['--require', join(BENCH, 'usage.cjs'), ...args] }
}

/** A build of klines as users run it. */
export function klines({ folder }: Build, ...args: string[]): Command {
  return node(join(folder, 'bin', 'run.js'), ...args)
}

/** A program of `peers/`: Node for `.mjs`, python3 for `.py`. */
export function peer(script: string, ...args: string[]): Command {
  const path = join(BENCH, 'peers', script)
  return script.endsWith('.py') ? { program: findPython(), args: [path, ...args] } : node(path, ...args)
}

let python: string | undefined

/** The real python3: a version manager's wrapper script in the PATH would cost a tenth of a second. */
function findPython(): string {
  python ??= execFileSync('python3', ['-c', 'import sys; print(sys.executable)'], { encoding: 'utf8' }).trim()
  return python
}

/** Runs a program to its end, without its stdout. Throws its stderr if the exit code is not 0. */
export async function run({ program, args }: Command): Promise<Usage> {
  const started = performance.now()
  const child = spawn(program, args, { cwd: tmpdir(), env: environment(), stdio: ['ignore', 'ignore', 'pipe', 'pipe'] })
  const texts = ['', '']
  for (const [index, pipe] of [child.stderr, child.stdio[3]].entries()) {
    pipe?.on('data', chunk => {
      texts[index] += chunk
    })
  }
  const closed = once(child, 'close')
  const [code, signal] = await once(child, 'exit')
  const ms = performance.now() - started
  await closed
  const [errors, usage] = texts
  if (code !== 0) throw new Error(`${[program, ...args].join(' ')} ended with ${code ?? signal}: ${errors}`)
  const [cpuMs, peak] = (usage.trimEnd().split('\n').at(-1) || 'NaN NaN').split(' ').map(Number)
  return { ms, cpuMs, mb: (peak * 1024) / 1e6 }
}

/** The environment of every program: none of the user's settings or proxies. */
export function environment(): Record<string, string> {
  return { PATH: process.env.PATH ?? '', TZ: 'UTC', LANG: 'C.UTF-8', HOME: '/nonexistent', TMPDIR: tmpdir() }
}

/** Whether a program is in the PATH. */
export function isInstalled(program: string): boolean {
  return version(program) !== undefined
}

/** The versions of what is measured. Nothing that identifies the machine. */
export function versions(): string {
  const duckdb = JSON.parse(readFileSync(join(PROJECT, 'node_modules/@duckdb/node-api/package.json'), 'utf8')).version
  const programs = ['python3', 'curl'].map(name => `${name} ${version(name) ?? 'not installed'}`)
  return [`Node ${process.versions.node}`, `DuckDB ${duckdb}`, ...programs].join(', ')
}

function version(program: string): string | undefined {
  try {
    return /\d+\.\d[\w.]*/.exec(execFileSync(program, ['--version'], { encoding: 'utf8' }))?.[0]
  } catch {
    return undefined
  }
}
