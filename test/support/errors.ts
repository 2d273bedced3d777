/** The error that `action` throws or rejects with; fails the test when there is none. */
export async function catchError(action: Promise<unknown> | (() => unknown)): Promise<Error & Record<string, unknown>> {
  try {
    await (typeof action === 'function' ? action() : action)
  } catch (error) {
    return error as Error & Record<string, unknown>
  }
  throw new Error('Expected an error, got none')
}
