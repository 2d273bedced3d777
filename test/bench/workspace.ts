import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { realTree } from '../support/oracles/real-tree.js'
import { pythonItself } from './programs.js'
import { PROJECT } from './project.js'
import type { Command } from './timed-run.js'

const BIN = join(PROJECT, 'bin', 'run.js')
const PEERS = join(PROJECT, 'test', 'bench', 'peers')

/** Where a section of the bench works: a folder of its own, the real slice, and what has to end with it. */
export class Workspace {
  readonly folder = mkdtempSync(join(tmpdir(), 'klines-bench-'))
  /** The folder that holds `api/` of the real slice; read only. */
  readonly slice = realTree()
  private readonly endings: (() => unknown)[] = []

  path(name: string): string {
    return join(this.folder, name)
  }

  /** A path where nothing lies: what an earlier run left is removed, outside of what is measured. */
  fresh(name: string): string {
    rmSync(this.path(name), { recursive: true, force: true })
    return this.path(name)
  }

  /** `ending` is awaited when the section is over, in reverse order. */
  defer(ending: () => unknown): void {
    this.endings.push(ending)
  }

  /** Ends what was started and removes the folder. */
  async end(): Promise<void> {
    for (const ending of this.endings.reverse()) await ending()
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** Our tool as users run it; `preload` names a module that is loaded first. */
export function klines(args: readonly string[], preload?: string, env?: Record<string, string>): Command {
  return { program: process.execPath, args: [...(preload ? ['--import', preload] : []), BIN, ...args], env }
}

/** A peer of `peers/`: Node for `.mjs`, python3 for `.py`. */
export function peer(script: string, ...args: string[]): Command {
  const program = script.endsWith('.py') ? pythonItself() : process.execPath
  return { program, args: [join(PEERS, script), ...args] }
}
