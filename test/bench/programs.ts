import { execFileSync, spawnSync } from 'node:child_process'
import { accessSync, constants, readFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { PROJECT } from './project.js'

/** Programs that peers or rows need: the Debian package of each and its flag that prints the version. */
const PROGRAMS: Readonly<Record<string, { package: string; version: string }>> = {
  python3: { package: 'python3', version: '--version' },
  nginx: { package: 'nginx', version: '-v' },
  wrk: { package: 'wrk', version: '-v' },
  curl: { package: 'curl', version: '--version' },
  aria2c: { package: 'aria2', version: '--version' },
}
const PACKAGES = [
  '@duckdb/node-api',
  'csv-stringify',
  'apache-arrow',
  'parquet-wasm',
  'hyparquet-writer',
  'undici',
  'fastify',
]

/** The path of a program, or undefined. Debian installs servers in /usr/sbin, which not every PATH contains. */
export function findProgram(name: string): string | undefined {
  for (const folder of [...(process.env.PATH ?? '').split(':'), '/usr/sbin']) {
    try {
      accessSync(join(folder, name), constants.X_OK)
      return join(folder, name)
    } catch {}
  }
  return undefined
}

let python: string | undefined

/** The real python3: a version manager's wrapper script in the PATH would cost a tenth of a second. */
export function findPython(): string {
  python ??= execFileSync('python3', ['-c', 'import sys; print(sys.executable)'], { encoding: 'utf8' }).trim()
  return python
}

/** Explains how to install a missing program. */
export function describeMissing(name: string): string {
  return `${name} is not installed: Debian package ${PROGRAMS[name].package}`
}

/** The versions of Node, klines and each peer, and the number of processors. Nothing that identifies the machine. */
export function versions(): Record<string, string> {
  const programs = Object.entries(PROGRAMS).map(([name, { version }]) => [name, programVersion(name, version)])
  const packages = PACKAGES.map(name => {
    const text = readFileSync(join(PROJECT, 'node_modules', name, 'package.json'), 'utf8')
    return [name, JSON.parse(text).version]
  })
  const commit = { klines: describeCommit() }
  return {
    node: process.version,
    cpus: String(cpus().length),
    ...commit,
    ...Object.fromEntries([...programs, ...packages]),
  }
}

/** The first version number that the program prints, whatever its exit code: wrk exits with 1. */
function programVersion(name: string, flag: string): string {
  const path = findProgram(name)
  if (path === undefined) return 'not installed'
  const { stdout, stderr } = spawnSync(path, [flag], { encoding: 'utf8' })
  return /\d+\.\d[\w.]*/.exec(stdout + stderr)?.[0] ?? 'unknown'
}

/** The measured commit, and whether the sources differ from it. */
function describeCommit(): string {
  try {
    const git = (...args: string[]) => execFileSync('git', args, { cwd: PROJECT, encoding: 'utf8' }).trim()
    const changed = git('status', '--porcelain', '--', 'src', 'bin') !== ''
    return git('rev-parse', '--short', 'HEAD') + (changed ? ' and changes' : '')
  } catch {
    return 'unknown'
  }
}
