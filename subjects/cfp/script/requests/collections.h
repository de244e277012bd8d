// Requests with arrays and objects.

{ "sorting", SCRIPT(
    var values = [];
    var next = 7;
    for (var i = 0; i < 16; i++) { values.push(next); next = next * 5 % 97; }
    values.sort(function (a, b) { return b - a; });
    var words = ["mutex", "atom", "fence", "barrier"];
    words.sort();
    print(values[0], values[15], words.join(" "));
), "86 2 atom barrier fence mutex;" },

{ "queue", SCRIPT(
    var waiting = [1];
    var served = [];
    while (served.length < 15) {
        var number = waiting.shift();
        served.push(number);
        waiting.push(2 * number);
        waiting.push(2 * number + 1);
    }
    print(served.join(" "), waiting.length);
), "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16;" },

{ "stack", SCRIPT(
    function result(text) {
        var stack = [];
        var parts = text.split(" ");
        for (var i = 0; i < parts.length; i++) {
            var part = parts[i];
            if (part == "+") stack.push(stack.pop() + stack.pop());
            else if (part == "*") stack.push(stack.pop() * stack.pop());
            else stack.push(parseInt(part));
        }
        return stack.pop();
    }
    print(result("2 3 + 4 * 5 +"), result("1 2 3 4 5 + + + +"));
), "25 15;" },

{ "mapping", SCRIPT(
    var numbers = [];
    for (var i = 1; i <= 12; i++) numbers.push(i);
    var squares = numbers.map(function (n) { return n * n; });
    var odd = squares.filter(function (n) { return n % 2 == 1; });
    print(odd.reverse().join(" "));
), "121 81 49 25 9 1;" },

{ "slices", SCRIPT(
    var letters = ["a", "b", "c", "d", "e", "f"];
    function rotated(list, by) { return list.slice(by).concat(list.slice(0, by)); }
    var turned = letters;
    for (var i = 0; i < 4; i++) turned = rotated(turned, 2);
    print(turned.join(""), turned.indexOf("a"), turned.indexOf("x"));
), "cdefab 4 -1;" },

{ "inventory", SCRIPT(
    var stock = { bolts: 40, nuts: 35, gears: 4 };
    function take(what, many) {
        if (stock[what] < many) return false;
        stock[what] = stock[what] - many;
        return true;
    }
    var refused = 0;
    for (var i = 0; i < 9; i++) {
        if (!take("bolts", 5)) refused++;
        if (!take("gears", 1)) refused++;
    }
    var names = Object.keys(stock);
    for (var i = 0; i < names.length; i++) names[i] = names[i] + "=" + stock[names[i]];
    print(refused, names.join(" "));
), "6 bolts=0 gears=0 nuts=35;" },
