import { KlinesError } from '../../klines/errors.js'
import { parsePartPath } from '../layout.js'

/** The folder of a Delta table that its log is in. */
export const LOG_FOLDER = '_delta_log'

/** The protocol that a table needs: the first one of readers, and of writers the first one that knows columns without nulls. */
export const PROTOCOL = { minReaderVersion: 1, minWriterVersion: 2 }

/** A file that is part of a version. */
export interface AddAction {
  /** Relative to the table, encoded as in a URL. */
  readonly path: string
  readonly partitionValues: Readonly<Record<string, string>>
  readonly size: number
  /** ms UTC. */
  readonly modificationTime: number
  readonly dataChange: boolean
  /** JSON: numbers of rows and nulls, least and greatest values. */
  readonly stats?: string | undefined
}

/** A file that an older version has, and this one has not. */
export interface RemoveAction {
  /** Relative to the table, encoded as in a URL. */
  readonly path: string
  /** ms UTC. */
  readonly deletionTimestamp: number
  readonly dataChange: boolean
  readonly extendedFileMetadata: true
  readonly partitionValues: Readonly<Record<string, string>>
  readonly size: number
}

/** What a table is. */
export interface MetaDataAction {
  readonly id: string
  readonly format: { readonly provider: 'parquet'; readonly options: Readonly<Record<string, string>> }
  /** JSON: the columns, also those that folders name. */
  readonly schemaString: string
  readonly partitionColumns: readonly string[]
  readonly configuration: Readonly<Record<string, string>>
  /** ms UTC. */
  readonly createdTime: number
}

/** One line of the log, with one of these. */
export interface Action {
  readonly commitInfo?: Readonly<Record<string, unknown>> | undefined
  readonly protocol?: Readonly<Record<keyof typeof PROTOCOL, number>> | undefined
  readonly metaData?: MetaDataAction | undefined
  readonly add?: AddAction | undefined
  readonly remove?: RemoveAction | undefined
}

/** What the actions of a log, from its first one, come to. */
export class TableState {
  metaData: MetaDataAction | undefined
  /** The files of the newest version, by path as the disk has it. */
  readonly live = new Map<string, AddAction>()
  /** The files that were removed, by path as the disk has it. */
  readonly removed = new Map<string, RemoveAction>()

  /** Throws `bad_output` for an action that klines does not write. */
  apply({ protocol, metaData, add, remove }: Action): void {
    if (protocol && (protocol.minReaderVersion > 1 || protocol.minWriterVersion > 2)) {
      throw foreign(`protocol ${protocol.minReaderVersion}/${protocol.minWriterVersion}`)
    }
    this.metaData = metaData ?? this.metaData
    if (add) {
      const path = decodeURIComponent(add.path)
      if (!parsePartPath(path)) throw foreign(`the file ${add.path}`)
      this.live.set(path, add)
      this.removed.delete(path)
    }
    if (remove) {
      const path = decodeURIComponent(remove.path)
      this.live.delete(path)
      this.removed.set(path, remove)
    }
  }
}

/** The log of a Delta table up to its newest version. */
export interface DeltaLog extends Pick<TableState, 'live' | 'removed'> {
  readonly version: number
  readonly metaData: MetaDataAction
  /** The version of the newest checkpoint that can be read. */
  readonly checkpoint: number | undefined
}

function foreign(what: string): KlinesError {
  return new KlinesError('bad_output', `it has ${what}, which another program wrote`)
}
