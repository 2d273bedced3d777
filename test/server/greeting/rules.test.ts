import { describe, expect, it } from 'vitest'
import { expectError } from '../../support/servers/error-response.js'
import { USER, USER_PATH, useHttpServer } from '../../support/servers/http-server.js'
import { rawPost, sendRaw } from '../../support/servers/raw-client.js'

const ID = '123e4567-e89b-12d3-a456-426614174000'
/** A field with valid and invalid values. */
type Rule = [field: string, valid: unknown[], invalid: unknown[]]

/** The rules of the public application. */
const RULES: Rule[] = [
  [
    'params.id',
    [ID, ID.toUpperCase(), '123e4567-e89b-92d3-f456-426614174000'],
    ['x', ID.slice(1), `{${ID}}`, `urn:uuid:${ID}`, ID.replaceAll('-', ''), ID.replace('e', 'g')],
  ],
  ['query.notify', ['email', 'push', 'none'], ['', 'sms', 'EMAIL', ' ', 'email&notify=push']],
  [
    'body.email',
    ['a@example.com', 'a.b+c@sub.example.co'],
    ['', 'a@', '@b', 'a b@example.com', 'a@bücher.de', 1, null, ['a@b.de']],
  ],
  ['body.profile', [USER.profile], [null, 'A B', 30, [], [USER.profile]]],
  ['body.profile.name', ['A B', 'Al', '  ', '名前', '😀😀'], ['A', '', '😀', 1, null, true, {}, ['A B']]],
  ['body.profile.age', [16, 30, 120], [-1, 0, 15, 16.5, 121, 1e300, '30', null, true, {}, [30]]],
]

/** A valid update with one field replaced. */
function makeUpdate(field: string, value: unknown): Buffer {
  const { id, notify, ...body } = structuredClone({ ...USER, id: ID, notify: 'email' }) as Record<string, unknown>
  const target = (user: unknown, type: unknown) => `/api/users/${user}?notify=${String(type).replaceAll(' ', '+')}`
  if (field === 'params.id') return rawPost(target(value, notify), JSON.stringify(body))
  if (field === 'query.notify') return rawPost(target(id, value), JSON.stringify(body))
  const [, ...names] = field.split('.')
  const last = names.pop() as string
  const parent = names.reduce((object, name) => object[name] as Record<string, unknown>, body)
  if (value === undefined) delete parent[last]
  else parent[last] = value
  return rawPost(target(id, notify), JSON.stringify(body))
}

describe('the greeting API as documented', () => {
  const server = useHttpServer()

  it.each(RULES)('%s: valid values', async (field, valid) => {
    for (const value of valid) {
      const { status, body } = await server.sendRaw(makeUpdate(field, value))
      expect([value, status, JSON.parse(body.toString())]).toEqual([
        value,
        200,
        { success: true, id: field === 'params.id' ? value : ID, notify: field === 'query.notify' ? value : 'email' },
      ])
    }
  })

  it.each(RULES)('%s: invalid values', async (field, _, invalid) => {
    for (const value of field.startsWith('body') ? [...invalid, undefined] : invalid) {
      const { cause } = expectError(await server.sendRaw(makeUpdate(field, value)), 400)
      const fields = (cause as { field: string }[]).map(fault => fault.field)
      expect([value, [...new Set(fields)]]).toEqual([value, [field]])
    }
  })

  it.each(['25.0', '1e2', '2.5E1'])('an age may be written as %s', async age => {
    const body = JSON.stringify(USER).replace('30', age)
    expect((await server.sendRaw(rawPost(`${USER_PATH}?notify=push`, body))).status).toBe(200)
  })

  it.each([
    [
      '{"email":"","profile":{"name":"","age":3.5}}',
      ['params.id', 'query.notify', 'body.email', 'body.profile.name', 'body.profile.age'],
    ],
    ['{"profile":{}}', ['params.id', 'query.notify', 'body.email', 'body.profile.name', 'body.profile.age']],
    ['[]', ['params.id', 'query.notify', 'body']],
  ])('every fault of %s is named at once', async (body, fields) => {
    const { cause } = expectError(await server.sendRaw(rawPost('/api/users/me', body)), 400)
    const named = new Set((cause as { field: string }[]).map(({ field }) => field))
    expect([...named].sort()).toEqual(fields.sort())
  })

  it('unknown fields are accepted everywhere', async () => {
    const more = { ...USER, more: 1, profile: { ...USER.profile, more: [null] } }
    const { status, headers, body } = await sendRaw(
      server.url(),
      rawPost(`${USER_PATH}?more=1&notify=push&a`, JSON.stringify(more)),
    )
    expect(headers['cache-control']).toBe('no-store')
    expect([status, JSON.parse(body.toString())]).toEqual([200, { success: true, id: ID, notify: 'push' }])
  })

  it.each([
    'APPLICATION/JSON',
    'application/json;charset=utf-8',
    'application/json; charset="utf-8"',
    'application/json ;a=b',
  ])('accepts the media type as %s', async type => {
    expect((await server.sendRaw(rawPost(`${USER_PATH}?notify=push`, JSON.stringify(USER), type))).status).toBe(200)
  })
})
