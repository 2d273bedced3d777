import { cpSync, readFileSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { isKlinesError } from '../../../src/candles/errors.js'
import { downloadKlines } from '../../../src/engine/klines.js'
import { filesBelow } from '../../support/files-below.js'
import { tempFolder } from '../../support/temp-folder.js'
import type { GrowingService } from './growing-service.js'

/** A mirror of a service that gets candles as time goes by, and its time. */
export class GrowingMirror {
  readonly root = tempFolder()
  mirror = join(this.root, 'm0')
  time: number
  private copies = 0

  constructor(readonly service: GrowingService) {
    this.time = service.start
  }

  /** `renders`: whether the service has the candles of that time; one that lags behind keeps its files. */
  advance(ms: number, renders = true): void {
    this.time += ms
    this.service.setTime(this.time, renders)
  }

  async download(options: { from?: string; to?: string; refresh?: boolean } = {}) {
    const { request } = this.service
    return downloadKlines({ ...request, ...options, mirror: this.mirror, now: this.time }).catch(error => {
      if (!isKlinesError(error, 'no_candles')) throw error
    })
  }

  /** Every window that the mirror should have is as the service has it. */
  expectCurrent(): void {
    const { service, mirror, time } = this
    for (const startDate of service.startDates.filter(date => Date.parse(date) <= time)) {
      const text = readFileSync(join(mirror, service.path(startDate)), 'utf8')
      const expected = service.rowsAt(startDate, time)
      expect([startDate, JSON.parse(text).length]).toEqual([startDate, expected.length])
      expect(text).toBe(JSON.stringify(expected))
    }
  }

  /** Copies the mirror as `cp -r`, git and unzip do: all files get the present time. Returns the folder. */
  copy(): string {
    const copy = join(this.root, `m${++this.copies}`)
    cpSync(this.mirror, copy, { recursive: true })
    this.touch(copy, filesBelow(copy))
    return copy
  }

  touch(folder: string, names: readonly string[]): void {
    for (const name of names) utimesSync(join(folder, name), this.time / 1000, this.time / 1000)
  }
}
