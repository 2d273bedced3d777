import { crc32, deflateRawSync } from 'node:zlib'

/** A file of a zip, and what may be wrong with it. */
export interface ZipMember {
  readonly name: string
  readonly content: string | Buffer
  /** Sets the flag of an encrypted file. */
  readonly isEncrypted?: boolean
  /** The size and the CRC that the zip says, instead of the real ones. */
  readonly size?: number
  readonly crc?: number
}

/** A zip of deflated files, as PKWARE's APPNOTE.TXT describes it (4.3.7, 4.3.12, 4.3.16). */
export function makeZip(...members: readonly ZipMember[]): Buffer {
  const [files, directory]: [Buffer[], Buffer[]] = [[], []]
  let offset = 0
  for (const { name, content, isEncrypted = false, size, crc } of members) {
    const [raw, fileName] = [Buffer.from(content), Buffer.from(name)]
    const data = deflateRawSync(raw, { level: 1 })
    // Shared by both headers: version, flags (UTF-8 names), method, time, date, CRC, sizes, length of the name.
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt16LE(0x800 | Number(isEncrypted), 2)
    common.writeUInt16LE(8, 4)
    common.writeUInt16LE(0x21, 8)
    common.writeUInt32LE(crc ?? crc32(raw), 10)
    common.writeUInt32LE(data.length, 14)
    common.writeUInt32LE(size ?? raw.length, 18)
    common.writeUInt16LE(fileName.length, 22)
    const place = Buffer.alloc(14)
    place.writeUInt32LE(offset, 10)
    const file = Buffer.concat([Buffer.from('PK\x03\x04'), common, fileName, data])
    files.push(file)
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00'), common, place, fileName]))
    offset += file.length
  }
  const end = Buffer.alloc(18)
  end.writeUInt16LE(members.length, 4)
  end.writeUInt16LE(members.length, 6)
  end.writeUInt32LE(Buffer.concat(directory).length, 8)
  end.writeUInt32LE(offset, 12)
  return Buffer.concat([...files, ...directory, Buffer.from('PK\x05\x06'), end])
}
