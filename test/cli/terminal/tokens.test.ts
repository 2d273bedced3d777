import { expect, it } from 'vitest'
import { collectTokens } from '../../../src/cli/terminal/tokens.js'
import type { Token } from '../../../src/greeting/schemas.js'
import { catchError } from '../../support/errors.js'

async function* tokens(count: number): AsyncGenerator<Token> {
  for (let index = 0; index < count; index++) yield { message: 'ab' }
}

it('tokens are collected up to a limit, beyond which the error says what to do', async () => {
  const size = JSON.stringify({ message: 'ab' }).length
  expect(await collectTokens(tokens(3), 3 * size)).toEqual(Array(3).fill({ message: 'ab' }))
  expect(await catchError(collectTokens(tokens(Number.POSITIVE_INFINITY), 3 * size))).toMatchObject({
    code: 'incomplete',
    suggestions: [expect.stringContaining('-f jsonl')],
  })
})
