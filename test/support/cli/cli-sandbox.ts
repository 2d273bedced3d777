import { type ChildProcess, spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll } from 'vitest'

/** The project's folder, without a slash at its end. */
export const PROJECT = fileURLToPath(new URL('../../..', import.meta.url)).slice(0, -1)
/** The program that users run. */
export const BIN = join(PROJECT, 'bin', 'run.js')
/** A run that takes longer hangs, and is ended; a soak gives it longer. */
const LIMIT_MS = Number(process.env.KLINES_TEST_LIMIT_MS ?? 50_000)
/** What runs now, each with a process group of its own. */
const running = new Set<ChildProcess>()

/** How a command ended and all it printed. */
export interface Run {
  readonly bytes: Buffer
  readonly stdout: string
  readonly stderr: string
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly tookMs: number
}

/** A command that runs. */
export interface Running {
  readonly child: ChildProcess
  readonly ended: Promise<Run>
}

type Env = Record<string, string>

/**
 * A place to run the real binary in: an empty working folder, a home and a cache folder of its own, and nothing of this
 * machine's settings or proxies in the environment.
 */
export class CliSandbox {
  readonly folder: string
  private readonly home: string
  private readonly bin: string

  constructor(root: string) {
    this.folder = join(root, 'work')
    this.home = join(root, 'home')
    this.bin = join(root, 'bin')
    for (const folder of [this.folder, this.home, this.bin]) mkdirSync(folder)
    writeFileSync(join(this.bin, 'klines'), `#!/bin/sh\nexec '${process.execPath}' '${BIN}' "$@"\n`)
    chmodSync(join(this.bin, 'klines'), 0o755)
  }

  path(name: string): string {
    return join(this.folder, name)
  }

  exists(name: string): boolean {
    return existsSync(this.path(name))
  }

  bytes(name: string): Buffer {
    return readFileSync(this.path(name))
  }

  text(name: string): string {
    return readFileSync(this.path(name), 'utf8')
  }

  write(name: string, content: string): string {
    writeFileSync(this.path(name), content)
    return this.path(name)
  }

  /** Every file below the working folder, hidden ones too, sorted. */
  files(folder = ''): string[] {
    return filesBelow(join(this.folder, folder))
  }

  /** Runs `klines` with arguments to its end. */
  run(args: readonly string[], env: Env = {}): Promise<Run> {
    return this.start(args, env).ended
  }

  start(args: readonly string[], env: Env = {}): Running {
    return this.launch(process.execPath, [BIN, ...args], env)
  }

  /** Runs a script of bash, for which `klines` is on the PATH. */
  shell(script: string, env: Env = {}): Promise<Run> {
    return this.startShell(script, env).ended
  }

  startShell(script: string, env: Env = {}): Running {
    return this.launch('bash', ['-c', script], env)
  }

  /** Runs another program of the project with Node. */
  node(args: readonly string[], env: Env = {}): Promise<Run> {
    return this.startNode(args, env).ended
  }

  startNode(args: readonly string[], env: Env = {}): Running {
    return this.launch(process.execPath, args, env)
  }

  private launch(command: string, args: readonly string[], env: Env): Running {
    const started = performance.now()
    const child = spawn(command, args, {
      cwd: this.folder,
      env: { ...this.env(), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    running.add(child)
    const [out, err]: [Buffer[], Buffer[]] = [[], []]
    child.stdout.on('data', chunk => out.push(chunk))
    child.stderr.on('data', chunk => err.push(chunk))
    const limit = setTimeout(() => killGroup(child), LIMIT_MS)
    const ended = new Promise<Run>((resolve, reject) => {
      child.on('error', reject)
      child.on('close', (code, signal) => {
        clearTimeout(limit)
        running.delete(child)
        const bytes = Buffer.concat(out)
        const [stdout, stderr] = [bytes.toString(), Buffer.concat(err).toString()]
        resolve({ bytes, stdout, stderr, code, signal, tookMs: performance.now() - started })
      })
    })
    return { child, ended }
  }

  private env(): Env {
    const { PATH = '', TZ = 'UTC', LANG = 'C.UTF-8' } = process.env
    return { PATH: `${this.bin}:${PATH}`, TZ, LANG, HOME: this.home, XDG_CACHE_HOME: join(this.home, 'cache') }
  }
}

/** Makes sandboxes for the tests of one file, which may run side by side; all are removed when they are over. */
export function useSandboxes(): () => CliSandbox {
  const root = mkdtempSync(join(tmpdir(), 'klines-sandbox-'))
  afterAll(() => {
    for (const child of running) killGroup(child)
    rmSync(root, { recursive: true, force: true })
  })
  return () => new CliSandbox(mkdtempSync(join(root, 'd')))
}

/** Ends a child and all it has started; it may have ended meanwhile. */
function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid) process.kill(-pid, 'SIGKILL')
  } catch {}
}

/** Every file below a folder, hidden ones too, sorted; none when it is not there. */
export function filesBelow(folder: string): string[] {
  if (!existsSync(folder)) return []
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter(entry => !entry.isDirectory())
    .map(entry => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort()
}
