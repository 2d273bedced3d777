// Preload: gives the program under test other times and tries (KLINES_TEST_POLICY, JSON), so that minutes become moments.
// All else is as users have it.
const { RETRY_POLICY } = await import(new URL('../../../dist/service/retry.js', import.meta.url).href)
const wanted = JSON.parse(process.env.KLINES_TEST_POLICY)
for (const name of Object.keys(wanted)) {
  if (!(name in RETRY_POLICY)) throw new Error(`No such part of the policy: ${name}`)
}
Object.assign(RETRY_POLICY, wanted)
