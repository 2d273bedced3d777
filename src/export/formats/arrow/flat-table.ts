/** More entries of a table than this, and it is none of klines. */
const MAX_TABLES = 64

/**
 * A table of a flatbuffer, which may be a stranger's: fields by their place in the schema. Throws a `RangeError` for what lies outside
 * of its bytes.
 */
export class FlatTable {
  private constructor(
    private readonly view: DataView,
    private readonly at: number,
  ) {}

  static root(bytes: Uint8Array): FlatTable {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    return new FlatTable(view, view.getUint32(0, true))
  }

  /** A number of so many bytes. */
  integer(field: number, bytes: 1 | 2 | 4 | 8, initial = 0): number {
    const at = this.find(field)
    if (at === undefined) return initial
    if (bytes === 1) return this.view.getUint8(at)
    if (bytes === 2) return this.view.getInt16(at, true)
    return bytes === 4 ? this.view.getInt32(at, true) : Number(this.view.getBigInt64(at, true))
  }

  table(field: number): FlatTable | undefined {
    const at = this.follow(field)
    return at === undefined ? undefined : new FlatTable(this.view, at)
  }

  text(field: number): string | undefined {
    const bytes = this.vector(field, 1)
    return bytes && Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()
  }

  /** The tables of a list. */
  tables(field: number): FlatTable[] {
    const places = this.vector(field, 4)
    if (places === undefined) return []
    const count = places.byteLength / 4
    if (count > MAX_TABLES) throw new RangeError(`a list of ${count} tables`)
    const start = places.byteOffset - this.view.byteOffset
    return Array.from({ length: count }, (_, index) => {
      const at = start + 4 * index
      return new FlatTable(this.view, at + this.view.getUint32(at, true))
    })
  }

  /** The bytes of a list with entries of `entryBytes`. */
  vector(field: number, entryBytes: number): DataView | undefined {
    const at = this.follow(field)
    if (at === undefined) return undefined
    const length = this.view.getUint32(at, true) * entryBytes
    if (at + 4 + length > this.view.byteLength) throw new RangeError(`a list of ${length} bytes`)
    return new DataView(this.view.buffer, this.view.byteOffset + at + 4, length)
  }

  private follow(field: number): number | undefined {
    const at = this.find(field)
    return at === undefined ? undefined : at + this.view.getUint32(at, true)
  }

  private find(field: number): number | undefined {
    const entries = this.at - this.view.getInt32(this.at, true)
    const place = 4 + 2 * field
    if (place >= this.view.getUint16(entries, true)) return undefined
    const offset = this.view.getUint16(entries + place, true)
    return offset === 0 ? undefined : this.at + offset
  }
}
