// Requests that calculate.

{ "fibonacci", SCRIPT(
    function fib(n) { if (n < 2) return n; return fib(n - 1) + fib(n - 2); }
    print(fib(9));
), "34;" },

{ "primes", SCRIPT(
    var found = [];
    for (var n = 2; n < 40; n++) {
        var prime = true;
        for (var i = 0; i < found.length && found[i] * found[i] <= n; i++)
            if (n % found[i] == 0) { prime = false; break; }
        if (prime) found.push(n);
    }
    print(found.length, found.join(" "));
), "12 2 3 5 7 11 13 17 19 23 29 31 37;" },

{ "collatz", SCRIPT(
    var longest = 0;
    var best = 0;
    function steps(n) {
        var count = 0;
        while (n != 1) {
            if (n % 2 == 0) n = n / 2; else n = 3 * n + 1;
            count++;
        }
        return count;
    }
    for (var n = 1; n < 13; n++) {
        var count = steps(n);
        if (count > longest) { longest = count; best = n; }
    }
    print(best, longest);
), "9 19;" },

{ "roots", SCRIPT(
    var sum = 0;
    for (var n = 1; n <= 30; n++) {
        var root = Math.sqrt(n);
        if (Math.abs(root - Math.floor(root + 0.5)) < 0.000001) sum += root;
    }
    print(sum);
), "15;" },

{ "powers", SCRIPT(
    var most = 0;
    var least = 1000000;
    for (var n = 1; n < 15; n++) {
        var power = Math.ceil(Math.pow(n, 3) / 7) % 101;
        most = Math.max(most, power);
        least = Math.min(least, power, 50);
    }
    print(most, least);
), "90 1;" },

{ "dice", SCRIPT(
    var faces = [0, 0, 0, 0, 0, 0];
    for (var roll = 0; roll < 60; roll++) {
        var face = Math.floor(Math.random() * 6);
        faces[face] = faces[face] + 1;
    }
    var sum = 0;
    for (var face = 0; face < 6; face++) sum += faces[face];
    print(sum, faces.length);
), "60 6;" },

{ "interest", SCRIPT(
    var capital = 1000;
    for (var year = 0; year < 30; year++) capital = capital * 1.03;
    print(capital.toFixed(2));
), "2427.26;" },

{ "bases", SCRIPT(
    var right = 0;
    for (var n = 0; n < 24; n++) {
        var text = (n * 37).toString(16);
        if (parseInt(text, 16) == n * 37) right++;
    }
    print(right, (255).toString(2));
), "24 11111111;" },
