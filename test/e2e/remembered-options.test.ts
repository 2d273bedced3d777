import { expect, it } from 'vitest'
import { variableOf } from '../../src/cli/flags/group.js'
import { flagName } from '../../src/options/option.js'
import { entriesFor, type OptionOf } from '../../src/options/output-options.js'
import { useSandboxes } from '../support/cli/cli-sandbox.js'
import { stockedSandbox } from '../support/cli/stocked-sandbox.js'
import { onlyPart } from '../support/lake.js'
import { OPEN_WEEK, putFile, RENDERED, weekPath, weekRows } from '../support/synthetic-tree.js'

/** Two values of every option of Parquet and Arrow, neither of them its default; those of a switch are `''` and `false`. */
const VALUES: Record<OptionOf<'parquet' | 'arrow'>, readonly [string, string]> = {
  columns: ['close,open_time', 'open_time'],
  numbers: ['decimal', 'text'],
  compression: ['snappy', 'none'],
}
const SYMBOL = 'BTCUSDT'
const DAY = 86_400_000
const names = (format: 'parquet' | 'arrow'): string[] => entriesFor(format).map(({ name }) => name)

const newSandbox = useSandboxes()

it('every option of the table has values here', () => {
  expect(Object.keys(VALUES).sort()).toEqual([...new Set([...names('parquet'), ...names('arrow')])].sort())
})

it.each(Object.entries(VALUES))('files and lakes keep %s when they get new candles', async (name, [value, other]) => {
  const { sandbox, tree } = await stockedSandbox(newSandbox(), [SYMBOL])
  const flag = flagName(name)
  const call = async (args: string, env = {}) =>
    expect(await sandbox.call(`${args} --mirror m -q`.split(/ +/), env)).toMatchObject({ code: 0, stderr: '' })
  const write = (output: string, args = '', env = {}) => {
    const layout = output.includes('.') ? '' : ' --layout hive'
    return call(`export ${SYMBOL} -i 15m -o ${output}${layout}${args}`, env)
  }
  const bytes = (output: string) => sandbox.bytes(output.includes('.') ? output : `${output}/${onlyPart(SYMBOL)}`)
  const endings = ['.parquet', '', '.arrow'].filter(ending =>
    names(ending === '.arrow' ? 'arrow' : 'parquet').includes(name),
  )

  for (const ending of endings) {
    await write(`plain${ending}`)
    await write(`made${ending}`, ` --${flag} ${value}`)
    expect(bytes(`made${ending}`)).not.toEqual(bytes(`plain${ending}`))
  }
  const isOfLakes = endings.includes('')
  if (isOfLakes) await write('again', ` --${flag} ${value}`)
  putFile(tree, weekPath(SYMBOL, OPEN_WEEK), weekRows(OPEN_WEEK), RENDERED + 8 * DAY)
  for (const ending of endings) {
    const before = bytes(`made${ending}`)
    await call(`update made${ending}`)
    expect(bytes(`made${ending}`)).not.toEqual(before)
    await write(`new${ending}`, ` --${flag} ${value}`)
    expect(bytes(`made${ending}`)).toEqual(bytes(`new${ending}`))
  }
  // What a lake remembers wins over a variable.
  if (!isOfLakes) return
  await write('again', '', { [variableOf(flag)]: other })
  expect(bytes('again')).toEqual(bytes('new'))
})
