import type { Clock } from '../../../platform/ctx/world.ts'

/** What a run in its cell asks before it leaves, and how it leaves. */
export interface ParkingActions {
  canLeaveCell: () => boolean
  leaveCell: () => void
}

/**
 * Lets a run leave its cell when it has waited for SVC_PARK_AFTER_S: it then costs a row, no process and no slot. A quick
 * decision finds the run still in its cell.
 */
export class Parking {
  /** Servers wait for an answer in the middle of a call. The call is lost if the run leaves its cell. */
  openServerQuestions = 0
  /** The agent has delivered files, which are stored when the run ends. */
  hasUnstoredFiles = false
  readonly #clock: Clock
  readonly #afterS: number
  readonly #actions: ParkingActions
  #cancel = () => {}

  constructor(clock: Clock, afterS: number, actions: ParkingActions) {
    this.#clock = clock
    this.#afterS = afterS
    this.#actions = actions
  }

  /** Starts the time of a new request. Nothing happens if the request has its answer by then. */
  startTimer(isOpen: () => boolean): void {
    this.stopTimer()
    this.#checkAfter(this.#afterS, isOpen)
  }

  stopTimer(): void {
    this.#cancel()
  }

  /** Nothing in the cell would be lost by leaving it. */
  get isCellFree(): boolean {
    return this.openServerQuestions === 0 && !this.hasUnstoredFiles
  }

  #checkAfter(seconds: number, isOpen: () => boolean): void {
    this.#cancel = this.#clock.after(seconds * 1000, () => {
      if (!isOpen()) return
      // The agent may do other work while it waits.
      if (this.isCellFree && this.#actions.canLeaveCell()) this.#actions.leaveCell()
      else this.#checkAfter(Math.max(1, seconds), isOpen)
    })
  }
}
