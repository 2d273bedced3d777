import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { realTree } from '../support/oracles/real-tree.js'
import { findPython } from './programs.js'
import { PROJECT } from './project.js'
import type { Command } from './timed-run.js'

const BIN = join(PROJECT, 'bin', 'run.js')
const PEERS = join(PROJECT, 'test', 'bench', 'peers')

/** What a section of the bench works with: its own folder, the real slice, and actions to run at its end. */
export class Workspace {
  readonly folder = mkdtempSync(join(tmpdir(), 'klines-bench-'))
  /** The folder that holds `api/` of the real slice; read only. */
  readonly slice = realTree()
  private readonly endActions: (() => unknown)[] = []

  path(name: string): string {
    return join(this.folder, name)
  }

  /** A path in the folder; removes what an earlier run left there, outside of the measured time. */
  fresh(name: string): string {
    rmSync(this.path(name), { recursive: true, force: true })
    return this.path(name)
  }

  /** Registers an action that is awaited at the end of the section, in reverse order. */
  defer(action: () => unknown): void {
    this.endActions.push(action)
  }

  /** Runs the registered actions and removes the folder. */
  async end(): Promise<void> {
    for (const action of this.endActions.reverse()) await action()
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** klines as users run it; `preload` names a module to load first. */
export function klines(args: readonly string[], preload?: string, env?: Record<string, string>): Command {
  return { program: process.execPath, args: [...(preload ? ['--import', preload] : []), BIN, ...args], env }
}

/** A peer of `peers/`: Node for `.mjs`, python3 for `.py`. */
export function peer(script: string, ...args: string[]): Command {
  const program = script.endsWith('.py') ? findPython() : process.execPath
  return { program, args: [join(PEERS, script), ...args] }
}
