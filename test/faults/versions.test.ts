import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { cutAt, hangUp, redirect, reply } from './support/answers.js'
import { expectAway, HASTY } from './support/fault-row.js'
import { ALL_WINDOWS, FAULTY, LIST, usePlaces } from './support/fault-scenario.js'
import type { FaultAnswer } from './support/fault-server.js'

const newPlace = usePlaces()

describe('versions', () => {
  it.concurrent('F37 a file that changes between two attempts is one of the two, never both', async () => {
    const place = await newPlace()
    const old = Buffer.from(readFileSync(join(place.tree, FAULTY), 'utf8').replaceAll('.12345678', '.87654321'))
    const half: FaultAnswer = exchange => cutAt('middle', 'close')({ ...exchange, file: old, times: ['ETag: W/"1"'] })
    place.server.script(FAULTY, half, exchange => reply('200 OK', ['ETag: W/"2"'])(exchange))
    const run = await place.download({ policy: HASTY })
    expect(run).toMatchObject({ code: 0, stderr: '' })
    expect(place.server.asked(FAULTY).map(({ head }) => /^(range|if-range|if-none-match)/im.test(head))).toEqual([
      false,
      false,
    ])
    expect(place.held()).toEqual([...ALL_WINDOWS, LIST].sort())
    expect(place.desk.text('x.csv')).toBe(place.csv())
  })

  it.concurrent('F38 304 for a file that is broken here: it is asked for without a condition', async () => {
    const place = await newPlace()
    expect((await place.downloadByLibrary()).code).toBe(0)
    place.server.heal()
    place.desk.write(`m/${FAULTY}`, '[[1')
    place.server.always(FAULTY, reply('304 Not Modified', [], ''))
    const run = await place.download({ policy: HASTY, args: ['--force'] })
    expect(run).toMatchObject({ code: 3, stdout: '' })
    expect(run.stderr).toMatch(/1 x status 304, which was not asked for \(/)
    expect(place.server.asked(FAULTY)).toHaveLength(3)
    for (const { head } of place.server.asked(FAULTY)) expect(head).not.toMatch(/if-modified-since/i)
    await place.expectRepair([FAULTY])
  })

  it.concurrent('F38 304 at once for everything: no file stands for another', async () => {
    const place = await newPlace()
    place.server.everywhere(reply('304 Not Modified', [], ''))
    await expectAway(place, place.server.url, /status 304, which was not asked for/)
    expect(place.server.log).toHaveLength(3)
    place.server.heal()
    for (const path of ALL_WINDOWS) place.server.always(path, redirect(undefined))
    expect((await place.downloadByLibrary()).code).toBe(3)
    place.server.heal()
    place.server.script(ALL_WINDOWS[0], hangUp())
    expect(await place.download({ policy: HASTY })).toMatchObject({ code: 0, stderr: '' })
    expect(place.desk.text('x.csv')).toBe(place.csv())
  })
})
