/*! Compresses as https://github.com/zhipeng-jia/snappyjs: the MIT License (MIT), Copyright (c) 2016 Zhipeng Jia. */

import { sharedKernel } from '../../rows/wasm/kernel.js'

/** Of the table of addresses. */
const TABLE_BYTES = 4 * 2 ** 14
/** Some bytes behind the input are read, and some behind the output overwritten. */
const MARGIN = 16

/** Compresses bytes as a block of Snappy. */
export function compressSnappy(bytes: Uint8Array): Buffer {
  const kernel = sharedKernel()
  const { length } = bytes
  return kernel.withScratch(() => {
    const table = kernel.allocate(TABLE_BYTES)
    const from = kernel.allocate(length + MARGIN)
    const to = kernel.allocate(length + Math.ceil(length / 6) + 32 + MARGIN)
    new Uint8Array(kernel.view.buffer).set(bytes, from)
    const end = kernel.calls.compressSnappy(from, length, table, to)
    return Buffer.from(kernel.view.buffer.slice(to, end))
  })
}
