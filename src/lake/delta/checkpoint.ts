import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { SchemaElement } from 'hyparquet'
import { versionDigits } from '../layout.js'
import { writeLakeFile } from '../root/files.js'
import { type Action, type DeltaLog, LOG_FOLDER, PROTOCOL, TableState } from './actions.js'
import { readLogFile } from './log-file.js'

/** Names the newest checkpoint, so that readers need not list the folder. */
export const LAST_CHECKPOINT = `${LOG_FOLDER}/_last_checkpoint`

/** Versions from one checkpoint to the next. */
const INTERVAL = 10

/** The path of a version's checkpoint, relative to the table. */
export function checkpointPath(version: number): string {
  return `${LOG_FOLDER}/${versionDigits(version)}.checkpoint.parquet`
}

/**
 * Writes a checkpoint, when the last one is ten versions old: readers then read it instead of all entries before it. `beforePlacing` is
 * called before each file is put in its place.
 */
export async function writeCheckpointIfDue(root: string, log: DeltaLog, beforePlacing: () => void): Promise<void> {
  const { version, checkpoint = 0 } = log
  if (version < checkpoint + INTERVAL) return
  const actions = listActions(root, log)
  await writeLakeFile(root, checkpointPath(version), await encodeCheckpoint(actions), beforePlacing)
  const last = Buffer.from(JSON.stringify({ version, size: actions.length }))
  await writeLakeFile(root, LAST_CHECKPOINT, last, beforePlacing)
}

/** What a table is, without its history. Removed files stay as long as they are on the disk, so that `vacuum` knows their age. */
function listActions(root: string, { metaData, live, removed }: DeltaLog): Action[] {
  const left = [...removed].filter(([path]) => existsSync(join(root, path)))
  return [
    { protocol: PROTOCOL },
    { metaData },
    ...[...live.values()].map(add => ({ add: { ...add, dataChange: false } })),
    ...left.map(([, remove]) => ({ remove: { ...remove, dataChange: false } })),
  ]
}

/** The state of a table at the checkpoint of a version. Throws when the file cannot be read, or is not of this form. */
export async function readCheckpoint(root: string, version: number): Promise<TableState> {
  const state = new TableState()
  const actions = await decodeCheckpoint(readLogFile(root, checkpointPath(version)))
  for (const action of actions) state.apply(action)
  return state
}

type Fields = readonly SchemaElement[]
type Leaf = Pick<SchemaElement, 'type' | 'converted_type'>

const TEXT: Leaf = { type: 'BYTE_ARRAY', converted_type: 'UTF8' }
const LONG: Leaf = { type: 'INT64' }
const INTEGER: Leaf = { type: 'INT32' }
const BOOLEAN: Leaf = { type: 'BOOLEAN' }

const leaf = (name: string, kind: Leaf): Fields => [{ name, repetition_type: 'OPTIONAL', ...kind }]
const struct = (name: string, ...fields: Fields[]): Fields => [
  { name, repetition_type: 'OPTIONAL', num_children: fields.length },
  ...fields.flat(),
]
const list = (name: string): Fields => [
  { name, repetition_type: 'OPTIONAL', num_children: 1, converted_type: 'LIST' },
  { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
  ...leaf('element', TEXT),
]
const map = (name: string): Fields => [
  { name, repetition_type: 'OPTIONAL', num_children: 1, converted_type: 'MAP' },
  { name: 'key_value', repetition_type: 'REPEATED', num_children: 2 },
  { name: 'key', repetition_type: 'REQUIRED', ...TEXT },
  ...leaf('value', TEXT),
]

/** The columns of a checkpoint, as the Delta protocol names them: each row has a value in one of them. */
const COLUMNS = {
  protocol: struct('protocol', leaf('minReaderVersion', INTEGER), leaf('minWriterVersion', INTEGER)),
  metaData: struct(
    'metaData',
    leaf('id', TEXT),
    struct('format', leaf('provider', TEXT), map('options')),
    leaf('schemaString', TEXT),
    list('partitionColumns'),
    map('configuration'),
    leaf('createdTime', LONG),
  ),
  add: struct(
    'add',
    leaf('path', TEXT),
    map('partitionValues'),
    leaf('size', LONG),
    leaf('modificationTime', LONG),
    leaf('dataChange', BOOLEAN),
    leaf('stats', TEXT),
  ),
  remove: struct(
    'remove',
    leaf('path', TEXT),
    leaf('deletionTimestamp', LONG),
    leaf('dataChange', BOOLEAN),
    leaf('extendedFileMetadata', BOOLEAN),
    map('partitionValues'),
    leaf('size', LONG),
  ),
}
const NAMES = Object.keys(COLUMNS) as (keyof typeof COLUMNS)[]
const LONGS = new Set(['createdTime', 'size', 'modificationTime', 'deletionTimestamp'])

/** The bytes of a checkpoint, a Parquet file, with the actions in their order. */
async function encodeCheckpoint(actions: readonly Action[]): Promise<Buffer> {
  const { parquetWriteBuffer } = await import('hyparquet-writer')
  const schema = [{ name: 'root', num_children: NAMES.length }, ...NAMES.flatMap(name => COLUMNS[name])]
  const columnData = NAMES.map(name => ({ name, data: actions.map(action => convert(action[name], BigInt)) }))
  return Buffer.from(parquetWriteBuffer({ schema, columnData, createdBy: 'klines' }))
}

/** The actions of a checkpoint. Throws when the bytes are something else. */
async function decodeCheckpoint(bytes: Buffer): Promise<Action[]> {
  const { parquetReadObjects } = await import('hyparquet')
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer
  const rows = await parquetReadObjects({ file, columns: NAMES })
  return rows.map(row =>
    Object.fromEntries(NAMES.flatMap(name => (row[name] ? [[name, convert(row[name], Number)]] : []))),
  )
}

/** An action with its long numbers in another type. */
function convert<T>(action: T, toLong: (value: number) => unknown): T {
  if (typeof action !== 'object' || action === null) return action
  const entries = Object.entries(action).map(([name, value]) => [name, LONGS.has(name) ? toLong(value) : value])
  return Object.fromEntries(entries)
}
