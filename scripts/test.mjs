// Runs every check of the project and ends with one line: "N passed, N failed".
// A failing step does not stop the later ones, so the closing line always covers everything. --fast leaves out
// the build and everything that needs a database.
import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))

const build = { name: 'build', run: () => command('node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json') }
const checks = [
  {
    name: 'format and lint',
    run: () => command('node_modules/@biomejs/biome/bin/biome', 'check', '--error-on-warnings', '.'),
  },
  { name: 'types', run: () => command('node_modules/typescript/bin/tsc', '--noEmit') },
  { name: 'house rules', run: () => command('scripts/check-house.mjs') },
  { name: 'docs', run: () => command('scripts/check-docs.mjs') },
]
const generatedDocs = { name: 'generated docs', run: () => command('scripts/generate-docs.mjs', '--check') }

const total = { passed: 0, failed: 0 }
const failedSteps = []
if (process.argv.includes('--fast')) {
  await inOrder([...checks, { name: 'unit tests', run: () => tests('--project', 'unit') }])
} else {
  await inOrder([build])
  // The tests begin with databases that are made one after the other, which leaves a core to the checks.
  await Promise.all([inOrder([{ name: 'tests', run: () => tests() }]), inOrder([...checks, generatedDocs])])
}
// Whose words may stand far above, among those of the tests.
if (failedSteps.length > 0) console.log(`\nfailed: ${failedSteps.join(', ')}`)
console.log(`\n${total.passed} passed, ${total.failed} failed`)
process.exitCode = total.failed === 0 ? 0 : 1

async function inOrder(steps) {
  for (const step of steps) {
    console.log(`\n── ${step.name}`)
    const { passed, failed } = await step.run()
    total.passed += passed
    total.failed += failed
    if (failed > 0) failedSteps.push(step.name)
  }
}

async function command(script, ...args) {
  const code = await node(script, args)
  return code === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 }
}

async function tests(...selection) {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-report-'))
  try {
    const file = join(folder, 'report.json')
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`]
    const code = await node('node_modules/vitest/vitest.mjs', ['run', ...reporters, ...selection])
    return count(await readFile(file, 'utf8').then(JSON.parse, () => undefined), code)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function count(report, code) {
  const passed = report?.numPassedTests ?? 0
  // A file that cannot be loaded, or whose hooks fail, has failed without a single failed test to show for it.
  const brokenFiles = (report?.testResults ?? []).filter(
    (file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
  )
  const failed = (report?.numFailedTests ?? 0) + brokenFiles.length
  // Errors outside of any test (a failed set-up, an unhandled rejection) show only in the exit code.
  return { passed, failed: code !== 0 && failed === 0 ? 1 : failed }
}

function node(script, args) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [join(ROOT, script), ...args], { cwd: ROOT, stdio: 'inherit' })
    child.on('error', (error) => {
      console.error(error.message)
      resolve(1)
    })
    child.on('close', (code) => resolve(code ?? 1))
  })
}
