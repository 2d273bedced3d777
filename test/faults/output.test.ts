import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import { filesBelow } from '../support/cli/cli-sandbox.js'
import { type Place, usePlaces } from './support/fault-scenario.js'

const newPlace = usePlaces()
const OLD = 'what was there before\n'
const EXPORT = 'klines export BTCUSDT -i 15m --mirror m'

/** A place whose mirror is full. */
async function stocked(): Promise<Place> {
  const place = await newPlace()
  expect((await place.downloadByLibrary()).code).toBe(0)
  return place
}

describe('what reads the output', () => {
  let place: Place
  beforeAll(async () => {
    place = await stocked()
  })

  it.concurrent('F53 closed after a line is a quiet 0', async () => {
    const run = await place.shell(`set -o pipefail; ${EXPORT} -f csv -o - | head -1; echo "\${PIPESTATUS[@]}"`)
    expect(run).toMatchObject({ code: 0, stdout: `${place.csv().split('\n')[0]}\n0 0\n`, stderr: '' })
  })

  it.concurrent('F53 closed before a byte is a quiet 0', async () => {
    const run = await place.shell(`set -o pipefail; ${EXPORT} -f csv -o - | true; echo "\${PIPESTATUS[@]}"`)
    expect(run).toMatchObject({ code: 0, stdout: '0 0\n', stderr: '' })
  })

  it.concurrent('F54 slow, it gets every byte', async () => {
    const run = await place.shell(`set -o pipefail; ${EXPORT} -f csv -o - | { sleep 1; cat; }`)
    expect(run).toMatchObject({ code: 0, stdout: place.csv(), stderr: '' })
  })

  it.concurrent.each(['2>&-', '2>/dev/full'])('F54 stderr that is lost (%s) does not matter', async lost => {
    expect(await place.shell(`${EXPORT} -f csv -o - ${lost}`)).toMatchObject({ code: 0, stdout: place.csv() })
  })
})

it.concurrent('F54 an output has finished when its reader can get the last byte, whatever comes then', async () => {
  const place = await newPlace()
  const writer = fileURLToPath(new URL('support/write-and-exit.mjs', import.meta.url))
  const run = await place.shell(`'${process.execPath}' '${writer}' | { until [ -e full ]; do :; done; cat; }`)
  expect(run).toMatchObject({ code: 0, stdout: '1'.repeat(64 * 1024) + '2'.repeat(1_000), stderr: '' })
})

describe('an output that cannot be', () => {
  it.concurrent.each<[string, string, string, number, RegExp]>([
    ['F55 a folder', 'mkdir out.csv', 'out.csv', 2, /out\.csv is a folder\./],
    ['F55 a file that is there', 'true', 'old.csv', 2, /old\.csv exists already\.\n {2}Replace it with --force/],
    [
      'F55 a link to nothing',
      'ln -s nowhere out.csv',
      'out.csv',
      2,
      /out\.csv is a link to something that is not there/,
    ],
    ['F55 a link to a file that is there', 'ln -s old.csv out.csv', 'out.csv', 2, /out\.csv exists already/],
    [
      'F56 a parent that is not there',
      'true',
      'none/out.csv',
      2,
      /Cannot write none\/out\.csv: the folder does not exist/,
    ],
    [
      'F56 a parent that is a file',
      'true',
      'old.csv/out.csv',
      2,
      /Cannot write old\.csv\/out\.csv: part of the path is a file/,
    ],
    ['F56 a name too long', 'true', `${'x'.repeat(300)}.csv`, 2, /the name is too long \(ENAMETOOLONG\)/],
  ])('%s is refused before anything is asked, and the old file stays', async (_, prepare, output, code, says) => {
    const place = await newPlace()
    place.desk.write('old.csv', OLD)
    const args = place.args().map(arg => (arg === 'x.csv' ? output : arg))
    const run = await place.shell(`${prepare}; klines ${args.join(' ')}`)
    expect(run).toMatchObject({ code, stdout: '' })
    expect(run.stderr).toMatch(says)
    expect(place.server.log).toEqual([])
    expect(place.desk.text('old.csv')).toBe(OLD)
    expect(filesBelow(place.mirror)).toEqual([])
    expect(place.outputs().filter(name => name !== 'out.csv')).toEqual(['old.csv'])
  })

  it.concurrent('F55 a link with --force is followed and stays a link', async () => {
    const place = await stocked()
    place.desk.write('old.csv', OLD)
    const run = await place.shell(`ln -s old.csv out.csv && ${EXPORT} -q --force -o out.csv && test -L out.csv`)
    expect(run).toMatchObject({ code: 0, stdout: '', stderr: '' })
    expect(place.desk.text('old.csv')).toBe(place.csv())
  })

  it.concurrent('F55 a FIFO gets every byte and stays one', async () => {
    const place = await stocked()
    const run = await place.shell(`mkfifo out.csv; cat out.csv & ${EXPORT} -q -o out.csv; wait $!; test -p out.csv`)
    expect(run).toMatchObject({ code: 0, stdout: place.csv(), stderr: '' })
  })
})
