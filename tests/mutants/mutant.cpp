// The board of mutants: shared with the runner if there is one, else a place where nothing is active.
#include "mutant.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

namespace mutant {
namespace {

Board alone{-1, {}};

struct Opener {
  Opener() {
    const char* path = std::getenv("THETATREE_MUTANTS");
    if (!path) return;
    const int file = open(path, O_RDWR);
    if (file < 0) return;
    void* shared = mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (shared != MAP_FAILED) board = static_cast<Board*>(shared);
  }
} opener;

}  // namespace

Board* board = &alone;

}  // namespace mutant
