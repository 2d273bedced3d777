import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll } from 'vitest'
import { filesBelow } from '../files-below.js'
import type { FailingCall } from './failing-fs.mjs'
import { type CallSettings, callInProcess } from './in-process.js'

/** The project's folder, without a slash at its end. */
export const PROJECT = fileURLToPath(new URL('../../..', import.meta.url)).slice(0, -1)
/** The program that users run. */
export const BIN = join(PROJECT, 'bin', 'run.js')
/** Preload that shifts the clock of a process. */
export const CLOCK = fileURLToPath(new URL('shifted-clock.mjs', import.meta.url))
/** Preload that says on stderr when the process ends itself by `process.exit`. */
export const FORCED_EXIT = fileURLToPath(new URL('forced-exit.mjs', import.meta.url))
/** Preload that makes calls of the file system fail. */
export const FAILING_FS = fileURLToPath(new URL('failing-fs.mjs', import.meta.url))
/** What only a new process obeys: what Node reads when it starts, and what preloads read. */
const PROCESS_SETTINGS = ['NODE_OPTIONS', 'NODE_EXTRA_CA_CERTS', 'TZ', 'KLINES_TEST_JUMP']
/** Where Node caches compiled code: all commands of a test run share it, which speeds them up. */
const COMPILE_CACHE = join(tmpdir(), 'compile-cache')
/** A run that takes longer hangs and is killed. A soak test allows more. */
const LIMIT_MS = Number(process.env.KLINES_TEST_LIMIT_MS ?? 150_000)
/** Running children, each with its own process group. */
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

/** A running command. */
export interface Running {
  readonly child: ChildProcess
  readonly ended: Promise<Run>
}

export type Env = Record<string, string>

/**
 * A place to run the program in: an empty working folder, its own home and cache folders, and an environment without this
 * machine's settings and proxies. `run`, `start` and `shell` start the real binary; `call` runs it in this process.
 */
export class CliSandbox {
  readonly folder: string
  /** The clock of the program when a run starts, ms UTC; default: this machine's. */
  now: number | undefined
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

  /** The user's config file, which is missing at first. */
  get userConfig(): string {
    return join(this.home, 'config', 'klines', 'klines.config.json')
  }

  /** The file that says until when hosts ban; missing at first. */
  get banFile(): string {
    return join(this.home, 'cache', 'klines', 'bans.json')
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

  /**
   * Runs `klines` in this process: faster than `run` by the start of a process, for what needs no process of its own. Throws for
   * settings that only a new process obeys.
   */
  async call(args: readonly string[], env: Env = {}, settings: CallSettings = {}): Promise<Run> {
    const setting = findProcessSetting(env)
    if (setting) throw new Error(`${setting} is a setting of a process: expected run() instead of call().`)
    const started = performance.now()
    const {
      stdout: bytes,
      stderr,
      code,
    } = await callInProcess(PROJECT, args, this.folder, { ...this.env(), ...env }, settings)
    const [text, errors] = [bytes.toString(), withoutProgress(stderr.toString())]
    return { bytes, stdout: text, stderr: errors, code, signal: null, tookMs: performance.now() - started }
  }

  /** Runs the real binary, in which calls of the file system fail, or end it by a signal. */
  runFailing(args: readonly string[], faults: readonly FailingCall[]): Promise<Run> {
    const { NODE_OPTIONS: clock = '' } = this.env()
    const NODE_OPTIONS = `${clock} --import=${FAILING_FS}`.trim()
    return this.run(args, { NODE_OPTIONS, KLINES_TEST_FAIL: JSON.stringify(faults) })
  }

  /** Runs the real binary to its end. */
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
        const [stdout, stderr] = [bytes.toString(), withoutProgress(Buffer.concat(err).toString())]
        resolve({ bytes, stdout, stderr, code, signal, tookMs: performance.now() - started })
      })
    })
    return { child, ended }
  }

  private env(): Env {
    const { PATH = '', TZ = 'UTC', LANG = 'C.UTF-8' } = process.env
    const folders = { XDG_CACHE_HOME: join(this.home, 'cache'), XDG_CONFIG_HOME: join(this.home, 'config') }
    const home = { HOME: this.home, ...folders, TMPDIR: tmpdir() }
    const clock: Env =
      this.now === undefined ? {} : { NODE_OPTIONS: `--import=${CLOCK}`, KLINES_TEST_NOW: String(this.now) }
    const cached = { NODE_COMPILE_CACHE: COMPILE_CACHE }
    return { PATH: `${this.bin}:${PATH}`, TZ, LANG, ...home, ...clock, ...cached }
  }
}

/** Creates sandboxes for the tests of one file, also for concurrent ones, and removes them when all tests are done. */
export function useSandboxes(): () => CliSandbox {
  const root = mkdtempSync(join(tmpdir(), 'klines-sandbox-'))
  afterAll(() => {
    for (const child of running) killGroup(child)
    rmSync(root, { recursive: true, force: true })
  })
  return () => new CliSandbox(mkdtempSync(join(root, 'd')))
}

/** What a command says on stderr, whether or not it took more than the 15 s after which it shows its progress. */
function withoutProgress(stderr: string): string {
  return stderr.replaceAll(/^(?:[\d,]+ of [\d,]+ \w+ \(\d+%\)|(?:Fetching|Reading|Comparing)\b.* \(\d+ s).*\n/gm, '')
}

/** The name of a setting that only a new process obeys, if there is one. */
export function findProcessSetting(env: Env): string | undefined {
  return PROCESS_SETTINGS.find(name => name in env)
}

/** Kills a child and everything it started, if they still run. */
function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid) process.kill(-pid, 'SIGKILL')
  } catch {}
}
