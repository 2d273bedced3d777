import type { Static, TSchema } from 'typebox'
import { Check, Errors } from 'typebox/value'
import { expect } from 'vitest'
import { TreeServer } from '../servers/tree-server.js'
import { makeTree } from '../synthetic-tree.js'
import { tempFolder } from '../temp-folder.js'
import type { CliSandbox } from './cli-sandbox.js'

/** Gives a sandbox a mirror of the made tree in `m`, and the server it came from. */
export async function stockedSandbox(
  sandbox: CliSandbox,
): Promise<{ sandbox: CliSandbox; server: TreeServer; tree: string }> {
  const tree = makeTree(tempFolder())
  const server = await TreeServer.start(tree)
  const run = await sandbox.run(['download', 'all', '-i', '15m', '--base-url', server.url, '--mirror', 'm', '-q'])
  expect(run).toMatchObject({ code: 0, stdout: '', stderr: '' })
  server.reset()
  return { sandbox, server, tree }
}

/** The one object that stdout holds; fails when it does not fit the published schema. */
export function objectOf<Schema extends TSchema>(stdout: string, schema: Schema): Static<Schema> {
  const object = JSON.parse(stdout)
  if (!Check(schema, object)) throw new Error(JSON.stringify(Errors(schema, object), null, 2))
  return object as Static<Schema>
}
