// Reads a configuration: `name :: Class(settings);` and `a -> [1] b [2] -> Class(settings) -> c;`.

class Configuration {
public:
    Configuration(const std::string &text, Router &router) : text_(text), router_(router) {}

    void read()
    {
        skip_blanks();
        while (at_ < text_.size()) {
            read_chain();
            expect(";");
        }
    }

private:
    struct End {
        Element *element;
        int input;
        int output;
    };

    void read_chain()
    {
        End left = read_end();
        while (accept("->")) {
            End right = read_end();
            left.element->connect(left.output, right.element, right.input);
            left = right;
        }
    }

    /// An element in a chain, with the ports by which the chain comes and goes.
    End read_end()
    {
        int input = read_port();
        Element *element = read_element();
        return { element, input, read_port() };
    }

    Element *read_element()
    {
        std::string name = read_name();
        if (accept("::")) {
            std::string class_name = read_name();
            return router_.add(name, class_name, read_settings());
        }
        if (Router::is_class(name))
            return router_.add(name + "@" + std::to_string(++anonymous_), name, read_settings());
        return router_.named(name);
    }

    int read_port()
    {
        if (!accept("["))
            return 0;
        int port = 0;
        while (at_ < text_.size() && isdigit(text_[at_]))
            port = 10 * port + text_[at_++] - '0';
        skip_blanks();
        expect("]");
        return port;
    }

    std::string read_name()
    {
        std::string name;
        while (at_ < text_.size() && (isalnum(text_[at_]) || text_[at_] == '_'))
            name += text_[at_++];
        if (name.empty())
            complain("a name");
        skip_blanks();
        return name;
    }

    Settings read_settings()
    {
        std::vector<std::string> words;
        if (!accept("("))
            return Settings(words);
        while (!accept(")")) {
            words.push_back(read_setting());
            accept(",");
        }
        return Settings(words);
    }

    std::string read_setting()
    {
        std::string word;
        while (at_ < text_.size() && text_[at_] != ',' && text_[at_] != ')')
            word += text_[at_++];
        if (at_ == text_.size())
            complain("\")\"");
        return word;
    }

    bool accept(const char *symbol)
    {
        size_t length = strlen(symbol);
        if (text_.compare(at_, length, symbol) != 0)
            return false;
        at_ += length;
        skip_blanks();
        return true;
    }

    void expect(const char *symbol)
    {
        if (!accept(symbol))
            complain("\"" + std::string(symbol) + "\"");
    }

    /// Blanks, and comments from `//` to the end of the line.
    void skip_blanks()
    {
        while (at_ < text_.size()) {
            if (text_.compare(at_, 2, "//") == 0)
                at_ = text_.find('\n', at_) == std::string::npos ? text_.size() : text_.find('\n', at_);
            else if (isspace(text_[at_]))
                at_++;
            else
                break;
        }
    }

    [[noreturn]] void complain(const std::string &wanted) const
    {
        give_up("the configuration should have " + wanted + " before \"" + text_.substr(at_, 20) + "\"");
    }

    const std::string text_;
    Router &router_;
    size_t at_ = 0;
    int anonymous_ = 0;
};
