import type { Exporter, ExporterOptions } from '../../formats/exporter.js'

/** A complete file beside its place. */
export interface FinishedFile {
  /** The output as the user named it. */
  readonly path: string
  /** Where it goes: `path`, or the file that a link there names. */
  readonly target: string
  readonly temp: string
  /** Replaces a file that is there. */
  readonly force: boolean
}

/** Where the bytes of a target go: a file, a stream, or one of them compressed. */
export interface Output {
  /** The output as the user named it. */
  readonly path: string
  /** Number of bytes written. */
  readonly bytes: number
  /** Makes what takes the rows in place of the format's exporter, for an output that shows them in another way. */
  readonly openExporter?: ((options: ExporterOptions) => Exporter) | undefined
  /** Takes the next bytes; resolves when more may come. */
  write(chunk: Uint8Array): Promise<void>
  /** Resolves when all bytes are on the disk or with the reader. A file is not visible yet: `commitOutputs` does that. */
  finish(): Promise<void>
  /** The file that waits for its place after `finish`; undefined for a stream or a device. */
  readonly finished: FinishedFile | undefined
  /** Leaves everything as it was, as far as possible. Never throws. */
  discard(): Promise<void>
}
