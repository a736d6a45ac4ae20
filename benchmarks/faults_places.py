def show(given, place, rng):
    return True
