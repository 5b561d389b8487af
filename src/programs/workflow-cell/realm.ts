import { posix } from 'node:path'
import vm from 'node:vm'
import { errorMessage } from '../../platform/base/error-message.ts'
import { type WorkflowCall, WORKFLOW_MODULES, workflowModuleName } from '../../platform/contract/workflow-protocol.ts'
import { freezeOfferedObjects, type OfferedModule } from './offered-modules.ts'
import { realmParts } from './realm-parts.ts'

// The types of Node leave this method out.
declare module 'node:vm' {
  interface SourceTextModule {
    createCachedData(): Buffer
  }
}

/** The sources of a wedge by their path below `workflows/`, and what the compiler made of them in an earlier realm. */
export interface RealmSources {
  files: Map<string, string>
  compiled: Map<string, Buffer>
}

/** A JSON text or an error message. */
export type RealmAnswer = { kind: 'result' | 'error'; text: string }

const { modules: offeredModules, globals } = freezeOfferedObjects()
const partsScript = new vm.Script(
  `'use strict';({${Object.entries(realmParts)
    .map(([name, part]) => `${name}:${part.toString()}`)
    .join(',')}})`,
  { filename: 'realm' },
)

/** JavaScript with its own built-in objects and its own instances of the modules of a wedge, for one call. */
export class Realm {
  readonly #sources: RealmSources
  readonly #context = vm.createContext(vm.constants.DONT_CONTEXTIFY, {
    codeGeneration: { strings: false, wasm: false },
  })
  readonly #parts: typeof realmParts = partsScript.runInContext(this.#context)
  readonly #seed: (text: string) => void
  readonly #call: ReturnType<typeof realmParts.createCaller>
  readonly #modules = new Map<string, vm.Module>()
  readonly #timers = new Map<number, NodeJS.Timeout>()
  readonly #links = new Map<vm.Module, Promise<vm.Module>>()
  /** Links follow one another, because a module that is being linked cannot be linked again. */
  #lastLink: Promise<unknown> = Promise.resolve()
  #finish: (answer: RealmAnswer) => void = () => {}
  #closed = false

  constructor(sources: RealmSources) {
    this.#sources = sources
    const host = {
      startTimer: (id: number, delayMs: number, repeat: boolean, run: () => void) => {
        if (!this.#closed) this.#timers.set(id, repeat ? setInterval(run, delayMs) : setTimeout(run, delayMs))
      },
      stopTimer: (id: number) => clearTimeout(this.#timers.get(id)),
      fail: (text: string) => this.#finish({ kind: 'error', text }),
    }
    this.#parts.installGlobals(globals)
    this.#parts.installTimers(host, this.#parts.describeThrown)
    this.#seed = this.#parts.installRandom()
    this.#call = this.#parts.createCaller(this.#parts.describeThrown)
  }

  /** Compiles the file of a workflow with its imports ahead of a call. No code of it runs. */
  async prepare(name: string): Promise<void> {
    try {
      await this.#link(this.#openFile(`${name}.mjs`))
    } catch {
      // The call that needs the file reports the error.
    }
  }

  /** Never rejects. */
  run({ name, args }: WorkflowCall): Promise<RealmAnswer> {
    this.#seed(`${name} ${args}`)
    return new Promise((resolve) => {
      this.#finish = resolve
      this.#evaluate(() => this.#openFile(`${name}.mjs`)).then(
        (module) => void this.#call(module.namespace, args, (kind, text) => resolve({ kind, text })),
        (error: unknown) => resolve(this.errorAnswer(error)),
      )
    })
  }

  errorAnswer(error: unknown): RealmAnswer {
    return { kind: 'error', text: this.#parts.describeThrown(error) }
  }

  owns(promise: unknown): boolean {
    return this.#parts.isOwnPromise(promise)
  }

  /** Stops everything that would still run code of the realm. */
  close(): void {
    this.#closed = true
    for (const timer of this.#timers.values()) clearTimeout(timer)
  }

  async #evaluate(open: () => vm.Module): Promise<vm.Module> {
    const module = await this.#link(open())
    await module.evaluate()
    return module
  }

  #link(module: vm.Module): Promise<vm.Module> {
    const known = this.#links.get(module)
    if (known) return known
    const linked = this.#lastLink.then(async () => {
      if (module.status === 'unlinked') await module.link((specifier, from) => this.#open(specifier, from.identifier))
      return module
    })
    this.#links.set(module, linked)
    this.#lastLink = linked.catch(() => {})
    return linked
  }

  /** `from` is the importing file as errors show it, such as `workflows/main.mjs`. */
  #open(specifier: string, from: string): vm.Module {
    const name = workflowModuleName(specifier)
    if (name !== null) return this.#openModule(name, () => this.#createOffered(offeredModules.get(name) ?? {}))
    if (/^\.\.?\//.test(specifier)) {
      return this.#openFile(posix.relative(FOLDER, posix.join(posix.dirname(from), specifier)), from)
    }
    throw this.#parts.createError(
      `workflows cannot import '${specifier}': only files of the wedge and ${WORKFLOW_MODULES.map((known) => `node:${known}`).join(', ')}`,
    )
  }

  #openFile(path: string, from?: string): vm.Module {
    const source = this.#sources.files.get(path)
    if (source !== undefined) return this.#openModule(`${FOLDER}/${path}`, (name) => this.#compile(name, path, source))
    const importer = from === undefined ? '' : ` imported from ${from}`
    throw this.#parts.createError(`Cannot find module '${FOLDER}/${path}'${importer}`)
  }

  #openModule(name: string, create: (name: string) => vm.Module): vm.Module {
    const known = this.#modules.get(name)
    if (known) return known
    const module = create(name)
    this.#modules.set(name, module)
    return module
  }

  #compile(identifier: string, path: string, source: string): vm.Module {
    const cachedData = this.#sources.compiled.get(path)
    try {
      const module = new vm.SourceTextModule(source, {
        identifier,
        context: this.#context,
        ...(cachedData && { cachedData }),
        initializeImportMeta: (meta) => void (meta.url = `file:///${identifier}`),
        importModuleDynamically: (specifier) => this.#evaluate(() => this.#open(specifier, identifier)),
      })
      if (!cachedData && !MAY_IMPORT_DYNAMICALLY.test(source)) {
        this.#sources.compiled.set(path, module.createCachedData())
      }
      return module
    } catch (error) {
      // Node does not tell the line of a syntax error here; `svc wedge check` does.
      throw this.#parts.createError(`${errorMessage(error)} (${identifier})`)
    }
  }

  #createOffered(exports: OfferedModule): vm.Module {
    const module: vm.SyntheticModule = new vm.SyntheticModule(
      Object.keys(exports),
      () => {
        for (const [name, value] of Object.entries(exports)) module.setExport(name, value)
      },
      { context: this.#context },
    )
    return module
  }
}

/** Compiled code that is used again cannot import dynamically (seen with Node 20). */
const MAY_IMPORT_DYNAMICALLY = /\bimport\s*[(/]/

/** The folder that errors and stacks show, as in the folder of the wedge. */
const FOLDER = 'workflows'
