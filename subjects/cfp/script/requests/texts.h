// Requests that work on text.

{ "caesar", SCRIPT(
    function turned(text, by) {
        var result = "";
        for (var i = 0; i < text.length; i++) {
            var code = text.charCodeAt(i);
            if (code >= 97 && code <= 122) code = (code - 97 + by) % 26 + 97;
            result += String.fromCharCode(code);
        }
        return result;
    }
    var secret = turned("meet me at the barrier", 5);
    print(secret, turned(secret, 21));
), "rjjy rj fy ymj gfwwnjw meet me at the barrier;" },

{ "palindrome", SCRIPT(
    function reads(text) {
        var lower = text.toLowerCase();
        for (var i = 0; i < lower.length / 2; i++)
            if (lower.charAt(i) != lower.charAt(lower.length - 1 - i)) return false;
        return true;
    }
    print(reads("Rotator"), reads("Deadlock"), reads("Level"), reads("A"));
), "true false true true;" },

{ "words", SCRIPT(
    var text = "the lock that the thread holds is the lock that the other wants";
    var words = text.split(" ");
    var longest = "";
    for (var i = 0; i < words.length; i++)
        if (words[i].length > longest.length) longest = words[i];
    print(words.length, longest.toUpperCase(), words.join("-").length);
), "13 THREAD 63;" },

{ "letters", SCRIPT(
    var counts = {};
    var text = "a race is a pair of accesses";
    for (var i = 0; i < text.length; i++) {
        var letter = text.charAt(i);
        if (counts[letter] == undefined) counts[letter] = 1;
        else counts[letter] = counts[letter] + 1;
    }
    var keys = Object.keys(counts);
    print(keys.length, counts.a, counts.s, keys.join(""));
), "10 5 4  acefioprs;" },

{ "tidy", SCRIPT(
    var lines = ["  wait for it ", "signal, then wait", "   wait   "];
    for (var i = 0; i < lines.length; i++) lines[i] = lines[i].trim().replace("wait", "sleep");
    print(lines.join("|"));
), "sleep for it|signal, then sleep|sleep;" },

{ "banner", SCRIPT(
    var rule = "=-".repeat(12);
    var text = rule + " threads " + rule;
    var at = text.indexOf("threads");
    print(at, text.substring(at, at + 6), text.indexOf("fibers"), text.length);
), "25 thread -1 57;" },
