/** Python: six processes that hold 48 MB each. */
export const GREEDY_PROCESSES = `
import os, time
for child in range(6):
    if os.fork() == 0:
        held = bytearray(os.urandom(1 << 20)) * 48
        time.sleep(600)
time.sleep(600)`

/** Python: starts processes until it is refused; prints their number and the error code, which is 11 (EAGAIN) at a limit. */
export const FORK_BOMB = `
import os, time
count = 0
try:
    while True:
        if os.fork() == 0:
            time.sleep(600)
            os._exit(0)
        count += 1
except OSError as error:
    print(count, error.errno)`
