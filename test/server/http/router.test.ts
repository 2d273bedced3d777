import { describe, expect, it } from 'vitest'
import { HttpError } from '../../../src/server/http/error.js'
import { Router } from '../../../src/server/http/router.js'

const PATHS = ['/', '/lists/all.json', '/lists/{name}.json', '/users/{id}', '/{first}/{second}/last']
const router = new Router(PATHS.map(path => ({ method: 'GET', path, handler: () => {} })))

/** The path of the route of a target with its parameters, or the status of the error. */
function find(target: string) {
  const found = router.find(target)
  return found instanceof HttpError ? found.statusCode : [found.route.path, { ...found.params }]
}

describe('a target has the route', () => {
  it.each([
    ['/', '/', {}],
    ['/?', '/', {}],
    ['/?a=/users/b', '/', {}],
    ['*', '/', {}],
    ['/lists/all.json', '/lists/all.json', {}],
    ['/lists/some.json', '/lists/{name}.json', { name: 'some' }],
    ['/lists/.json', '/lists/{name}.json', { name: '' }],
    ['/lists/a.json.json', '/lists/{name}.json', { name: 'a.json' }],
    ['/l%69sts/%61ll%2Ejson', '/lists/all.json', {}],
    ['/users/', '/users/{id}', { id: '' }],
    ['/users/a%2Fb%3Fc', '/users/{id}', { id: 'a/b?c' }],
    ['/users/%252F', '/users/{id}', { id: '%2F' }],
    ['/users/a%0Ab', '/users/{id}', { id: 'a\nb' }],
    ['/users/a+b;c', '/users/{id}', { id: 'a+b;c' }],
    ['/users/__proto__', '/users/{id}', { id: '__proto__' }],
    ['/users/a?%zz', '/users/{id}', { id: 'a' }],
    ['//x/last', '/{first}/{second}/last', { first: '', second: 'x' }],
    ['http://localhost', '/', {}],
    ['HTTP://localhost?a', '/', {}],
    ['https://localhost:1/users/a?b', '/users/{id}', { id: 'a' }],
  ])('%s: %s', (target, path, params) => {
    expect(find(target)).toEqual([path, params])
  })
})

describe('a target has no route', () => {
  it.each(['/users', '/users/a/', '/Users/a', '/lists/all', '/users%2Fa', '//', '/lists/all.jsonx', '/lists/allxjson'])(
    '%s: 404',
    target => expect(find(target)).toBe(404),
  )

  it.each(['ftp://localhost/', 'a://localhost', '/__proto__', '/constructor'])('%s: 404', target =>
    expect(find(target)).toBe(404),
  )

  it.each(['/%', '/%zz', '/users/%ff', '/nope/%e0%a4%a', 'http://localhost/%', 'ftp://localhost/%zz'])(
    '%s: 400',
    target => expect(find(target)).toBe(400),
  )

  it('an address that is no URL: 400', () => {
    expect(find('http://localhost:65536/users/a')).toBe(400)
  })
})
