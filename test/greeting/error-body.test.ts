import { describe, expect, it } from 'vitest'
import { parseErrorBody } from '../../src/greeting/error-body.js'
import { cleanText } from '../../src/sources/fetch-error.js'

const object = (fields: unknown) => Buffer.from(JSON.stringify(fields))
const messageIn = (body: Buffer) => parseErrorBody(body)?.message
const ESC = String.fromCharCode(0x1b)

describe('the message of an error body', () => {
  it('is the message of the error object', () => {
    expect(messageIn(object({ statusCode: 404, message: 'No such window', isError: true }))).toBe('No such window')
  })

  it('is one line without control characters, escapes, direction marks or zero-width characters', () => {
    const hostile = `a${ESC}[31mred${ESC}]0;title\u0007\r\nb\tc\u202Edrow\u200Bx\u0000\u009bz`
    const shown = messageIn(object({ message: hostile })) ?? ''
    expect(shown).toBe('a [31mred ]0;title b c drow x z')
  })

  it('is cut at 200 characters', () => {
    const shown = messageIn(object({ message: 'x'.repeat(5_000) })) ?? ''
    expect(shown).toBe(`${'x'.repeat(200)}...`)
    expect(cleanText('y'.repeat(200), 200)).toBe('y'.repeat(200))
  })

  it.each<[string, Buffer]>([
    ['no bytes', Buffer.alloc(0)],
    ['a web page', Buffer.from('<!DOCTYPE html><title>404</title>')],
    ['30,000 levels of nesting', Buffer.from('['.repeat(30_000))],
    ['null', Buffer.from('null')],
    ['a string', Buffer.from('"message"')],
    ['an object without a message', object({ error: 'x' })],
    ['a message that is not a string', object({ message: { toString: 'x' } })],
    ['bytes that are not UTF-8', Buffer.from([0xff, 0xfe, 0x00])],
  ])('is undefined for a body of %s', (_, body) => {
    expect(messageIn(body)).toBeUndefined()
  })
})
