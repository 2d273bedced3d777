/** Deeper structs are no metadata of Parquet. */
const MAX_DEPTH = 32
/** What the metadata of 8 MB has of healthy files; a crafted byte can be an object of 100. */
const [MAX_VALUES, MAX_OBJECTS] = [1_500_000, 500_000]
/** A longer integer has more than 64 bits. */
const MAX_VARINT_BYTES = 10

/** The types of values that Parquet uses. */
const TYPES = { booleans: [1, 2], byte: 3, integers: [4, 5, 6], double: 7, bytes: 8, list: 9, struct: 12 }

/**
 * Throws unless `bytes` start with a struct of Thrift's compact protocol whose lists and texts are all there. The library reserves what
 * a list claims before it reads it, so that a few bytes can claim the memory of the machine.
 */
export function checkThrift(bytes: Uint8Array): void {
  new ThriftWalk(bytes).skipStruct(0)
}

class ThriftWalk {
  private offset = 0
  private values = 0
  private objects = 0

  constructor(private readonly bytes: Uint8Array) {}

  skipStruct(depth: number): void {
    if (depth > MAX_DEPTH) throw new Error('its metadata is nested too deeply')
    this.countObject()
    while (true) {
      const head = this.readByte()
      if (head === 0) return
      if (head >> 4 === 0) this.readVarint()
      this.skipValue(head & 15, depth)
    }
  }

  private skipValue(type: number, depth: number): void {
    if (++this.values > MAX_VALUES) throw new Error(`its metadata has more than ${MAX_VALUES} values`)
    if (TYPES.booleans.includes(type)) return
    if (TYPES.integers.includes(type)) this.readVarint()
    else if (type === TYPES.byte) this.skip(1)
    else if (type === TYPES.double) this.skip(8)
    else if (type === TYPES.bytes) this.skipBytes()
    else if (type === TYPES.list) this.skipList(depth)
    else if (type === TYPES.struct) this.skipStruct(depth + 1)
    else throw new Error(`its metadata has a value of the unknown type ${type}`)
  }

  private skipBytes(): void {
    this.countObject()
    this.skip(this.readVarint())
  }

  private skipList(depth: number): void {
    if (depth > MAX_DEPTH) throw new Error('its metadata is nested too deeply')
    this.countObject()
    const head = this.readByte()
    const size = head >> 4 === 15 ? this.readVarint() : head >> 4
    // A boolean in a list has a byte of its own.
    const type = TYPES.booleans.includes(head & 15) ? TYPES.byte : head & 15
    for (let i = 0; i < size; i++) this.skipValue(type, depth + 1)
  }

  private countObject(): void {
    if (++this.objects > MAX_OBJECTS) throw new Error(`its metadata has more than ${MAX_OBJECTS} parts`)
  }

  private readByte(): number {
    this.skip(1)
    return this.bytes[this.offset - 1]
  }

  private readVarint(): number {
    let value = 0
    for (let length = 0; length < MAX_VARINT_BYTES; length++) {
      const byte = this.readByte()
      value += (byte & 127) * 2 ** (7 * length)
      if (byte < 128) return value
    }
    throw new Error('its metadata has an integer of more than 64 bits')
  }

  private skip(length: number): void {
    this.offset += length
    if (this.offset > this.bytes.length) throw new Error('its metadata is cut off')
  }
}
