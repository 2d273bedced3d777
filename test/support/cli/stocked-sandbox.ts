import { Check, Errors } from 'typebox/value'
import { expect } from 'vitest'
import type { JsonSchema } from '../../../src/cli/report.js'
import { TreeServer } from '../servers/tree-server.js'
import { makeTree, PRESENT } from '../synthetic-tree.js'
import { tempFolder } from '../temp-folder.js'
import type { CliSandbox } from './cli-sandbox.js'

/** Downloads the synthetic tree into the mirror `m` of a sandbox; returns that with the tree's server and folder. */
export async function stockedSandbox(
  sandbox: CliSandbox,
  symbols: readonly string[] = ['all'],
): Promise<{ sandbox: CliSandbox; server: TreeServer; tree: string }> {
  const tree = makeTree(tempFolder())
  const server = await startTreeServer(sandbox, tree)
  const run = await sandbox.call(['download', ...symbols, '-i', '15m', '--base-url', server.url, '--mirror', 'm', '-q'])
  expect(run).toMatchObject({ code: 0, stdout: '', stderr: '' })
  server.reset()
  return { sandbox, server, tree }
}

/** Serves a synthetic tree; the server and the sandbox have the tree's present. */
export async function startTreeServer(sandbox: CliSandbox, tree = makeTree(tempFolder())): Promise<TreeServer> {
  const server = await TreeServer.start(tree)
  server.date = PRESENT
  sandbox.now = PRESENT
  return server
}

/** Parses the one object on stdout; fails unless it matches the published schema. */
export function parseObject<Json>(stdout: string, schema: JsonSchema<Json>): Json {
  const object = JSON.parse(stdout)
  if (!Check(schema, object)) throw new Error(JSON.stringify(Errors(schema, object), null, 2))
  return object as Json
}
